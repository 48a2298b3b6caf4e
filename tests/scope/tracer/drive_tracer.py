"""A process that runs steps under a tracer, each an owner of its own, and says what was attributed to whom."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    told = json.loads(sys.stdin.read())
    sys.path.insert(0, told["tree"])
    found = by_oracle(told) if told["tracer"] == "oracle" else by_tracer(told)
    with open(told["out"], "w", encoding="utf-8") as stream:
        json.dump(found, stream)


def run_step(text: str) -> None:
    exec(compile(text, "<step>", "exec"), {"__name__": "step"})


def by_tracer(told):
    from admit.scope.places import Places
    from admit.scope.reached import Reached
    from admit.scope.tracer_audit import Watch

    places, outside = Places(told["tree"], told["files"]), Reached()
    run_step(told["before"])
    if told["tracer"] == "monitoring":
        from admit.scope.tracer_monitoring import MonitoringTracer

        tracer = MonitoringTracer(places)
    else:
        from admit.scope.tracer_coverage import CoverageTracer

        tracer = CoverageTracer(places, told["files"])
    watch = Watch(places, outside, tracer.hears)
    tracer.start(outside)
    owners = {"outside": outside}
    for number, step in enumerate(told["steps"], 1):
        owner = owners[f"step-{number}"] = Reached(is_kept=not step.startswith("# untraced"))
        tracer.switch(owner)
        watch.current = owner
        try:
            run_step(step)
        except Exception as error:  # noqa: BLE001 - a step may fail
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        watch.look_back()
        tracer.check()
        tracer.switch(outside)
        watch.current = outside
    tracer.check()
    tracer.stop()
    watch.stop()
    return {
        name: {
            "lines": {path: hex(bits) for path, bits in one.lines.items()},
            "opened": sorted(one.opened),
            "listed": sorted(one.listed),
            "spawned": one.spawned,
            "alive": one.is_alive,
            "trouble": one.trouble,
        }
        for name, one in owners.items()
    }


def by_oracle(told):
    """Ask coverage.py's C tracer, past everything of admit's."""
    import coverage

    seen = coverage.Coverage(data_file=None, config_file=False, include=[os.path.join(told["tree"], "*")])
    seen.set_option("run:core", "ctrace")
    seen.start()
    names = [f"step-{number}" for number in range(1, len(told["steps"]) + 1)]
    for name, step in zip(names, told["steps"], strict=True):
        seen.switch_context(name)
        try:
            run_step(step)
        except Exception as error:  # noqa: BLE001 - a step may fail
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        seen.switch_context("")
    seen.stop()
    lines: dict[str, dict[str, int]] = {name: {} for name in names}
    data = seen.get_data()
    for file in data.measured_files():
        path = os.path.relpath(file, os.path.realpath(told["tree"]))
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in filter(None, contexts):
                lines[context][path] = lines[context].get(path, 0) | 1 << line
    rest = {"opened": [], "listed": [], "spawned": "", "alive": True, "trouble": ""}
    return {name: {"lines": {path: hex(bits) for path, bits in of.items()}, **rest} for name, of in lines.items()}


if __name__ == "__main__":
    main()
