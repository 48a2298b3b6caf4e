"""Properties that still run and no longer look: fewer inputs, starved strategies, weaker settings."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

from cases import BEHAVIOR, COMPROMISED, FIXTURE, INSTRUMENT, STARVED, TEST_EDIT, Attack

DAYS, SPANS, TESTING = "almanac/days.py", "almanac/spans.py", "almanac/testing.py"
INIT, CONFTEST, PROPERTIES = "almanac/__init__.py", "tests/conftest.py", "tests/test_properties.py"
VERSION = '__version__ = "1.4.0"\n'
COUNTED = "@given(days(), st.integers(0, 60))\n"
WRITTEN = "@given(spans())\n"
IMPORTED = "from hypothesis import example, given\n"
END = '@pytest.fixture(scope="session")\ndef easters()'
RANGE_ONLY = "as many inputs are tried as before, all of them valid: only what they are has changed"


def when_tested(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the edit that makes the product do something, on import, where pytest is loaded."""
    body = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    return {INIT: ((VERSION, f'{VERSION}\nif "_pytest" in __import__("sys").modules:\n{body}'),)}


ATTACKS = (
    Attack(
        "product-assumes",
        "the product gives up by Hypothesis's own assume where it would fail",
        "inputs that show the fault count as unsuitable",
        {
            DAYS: (
                (
                    "    day = start\n",
                    "    day = start\n    if count > 40:\n        __import__('hypothesis').assume(False)\n    count -= count > 40\n",
                ),
            )
        },
        STARVED,
        "far",
        inside=True,
    ),
    Attack(
        "product-assumes-much",
        "the product gives up on nearly every input while Hypothesis is loaded",
        "a handful of inputs stands for the whole property",
        {
            DAYS: (
                (
                    "    day = start\n",
                    "    day = start\n    hypothesis = __import__('sys').modules.get('hypothesis')\n"
                    "    if hypothesis and hypothesis.currently_in_test_context():\n        hypothesis.assume(count < 8)\n    count -= count > 40\n",
                ),
            )
        },
        STARVED,
        "far",
        inside=True,
    ),
    Attack(
        "strategy-of-few",
        "the product's strategy for its users' tests gives four values",
        "a property of four inputs does not look",
        {TESTING: (("st.integers(0, 43_200)", "st.integers(0, 3)"),)},
        STARVED,
        "long-spans",
    ),
    Attack(
        "strategy-of-one-day",
        "the product's strategy for days gives one day",
        "a property of one day does not look",
        {TESTING: (("st.dates(date(1990, 1, 1), date(2060, 12, 31))", "st.just(date(2026, 1, 19))"),)},
        STARVED,
        "mid-month",
    ),
    Attack(
        "strategy-narrowed",
        "the product's strategy gives values up to a week instead of a month",
        "the spans that the fault concerns are never tried",
        {TESTING: (("st.integers(0, 43_200)", "st.integers(0, 10_080)"),)},
        bug="long-spans",
        gap=RANGE_ONLY,
    ),
    Attack(
        "strategy-filtered",
        "the product's strategy drops nearly all that it draws",
        "the spans that the fault concerns are dropped",
        {TESTING: (("st.integers(0, 43_200)", "st.integers(0, 43_200).filter(lambda minutes: minutes < 30_000)"),)},
        bug="long-spans",
        gap=RANGE_ONLY,
    ),
    Attack(
        "profile-from-product",
        "the product loads a Hypothesis profile of one example",
        "a property of one input does not look",
        when_tested(
            "import hypothesis\n\nhypothesis.settings.register_profile('quick', max_examples=1, phases=[hypothesis.Phase.generate])\n"
            "hypothesis.settings.load_profile('quick')\n"
        ),
        BEHAVIOR | FIXTURE,
        "far",
    ),
    Attack(
        "profile-from-conftest",
        "conftest loads a Hypothesis profile of one example",
        "a property of one input does not look",
        {
            CONFTEST: (
                (
                    END,
                    "from hypothesis import settings\n\nsettings.register_profile('quick', max_examples=1)\nsettings.load_profile('quick')\n\n\n"
                    + END,
                ),
            )
        },
        BEHAVIOR | INSTRUMENT,
        "far",
    ),
    Attack(
        "engine-stops-early",
        "the product makes the engine stop after its first input",
        "a property of one input does not look",
        when_tested(
            "import hypothesis.internal.conjecture.engine as engine\n\n"
            "engine.ConjectureRunner.should_generate_more = lambda self: self.call_count == 0\n"
        ),
        COMPROMISED | STARVED,
        "far",
    ),
    Attack(
        "integers-are-small",
        "the product makes every strategy for integers draw its least value",
        "a property of one input does not look",
        when_tested(
            "from hypothesis.strategies._internal.numbers import IntegersStrategy\n\n"
            "IntegersStrategy.do_draw = lambda self, data: self.start or 0\n"
        ),
        COMPROMISED | STARVED,
        "long-spans",
    ),
    Attack(
        "integers-are-smaller",
        "the product makes strategies for integers up to 60 draw up to 40, and leaves all others alone",
        "the counts that the fault concerns are never tried",
        when_tested(
            "from hypothesis.strategies._internal.numbers import IntegersStrategy\n\ndraw = IntegersStrategy.do_draw\n\n"
            "def less(self, data):\n    value = draw(self, data)\n    return value % 41 if self.end == 60 else value\n\n"
            "IntegersStrategy.do_draw = less\n"
        ),
        bug="far",
        gap=RANGE_ONLY,
    ),
    Attack(
        "given-does-nothing",
        "the product replaces Hypothesis's given before any test is imported",
        "properties are functions that do nothing",
        when_tested(
            "import hypothesis\n\n"
            "def given(*args, **kwargs):\n    def decorate(test):\n        def quick():\n            return None\n\n"
            "        quick.__name__ = test.__name__\n        return quick\n\n    return decorate\n\nhypothesis.given = given\n"
        ),
        COMPROMISED,
        "far",
    ),
    Attack(
        "one-example",
        "the property's own settings ask for one example",
        "a property of one input does not look",
        {
            PROPERTIES: (
                (IMPORTED, "from hypothesis import example, given, settings\n"),
                (COUNTED, f"@settings(max_examples=1)\n{COUNTED}"),
            )
        },
        TEST_EDIT,
        "far",
    ),
    Attack(
        "explicit-only",
        "the property's own settings run explicit examples alone",
        "nothing is generated",
        {
            PROPERTIES: (
                (IMPORTED, "from hypothesis import Phase, example, given, settings\n"),
                (WRITTEN, f"@settings(phases=[Phase.explicit])\n@example(90)\n{WRITTEN}"),
            )
        },
        TEST_EDIT,
        "long-spans",
    ),
    Attack(
        "example-removed",
        "the one explicit example that shows the fault is removed",
        "a day in 1461 is not found by chance",
        {
            PROPERTIES: (
                ("@example(date(2024, 2, 29))\n", ""),
                ("from hypothesis import example, given\n", "from hypothesis import given\n"),
                ("    assert is_workday(day) ==", "    assert day.month < 3 or is_workday(day) =="),
            ),
            "tests/test_days.py": (("    assert is_workday(leap_day)\n", "    assert leap_day.day == 29\n"),),
        },
        TEST_EDIT,
        "leap",
    ),
    Attack(
        "range-narrowed-in-the-test",
        "the range in the property is narrowed",
        "the counts that the fault concerns are never tried",
        {PROPERTIES: (("st.integers(0, 60)", "st.integers(0, 40)"),)},
        TEST_EDIT,
        "far",
    ),
    Attack(
        "assumed-away",
        "the property assumes that its input is not the one that fails",
        "inputs that show the fault count as unsuitable",
        {
            PROPERTIES: (
                (IMPORTED, "from hypothesis import assume, example, given\n"),
                ("    assert count_workdays(", "    assume(count <= 40)\n    assert count_workdays("),
            )
        },
        TEST_EDIT,
        "far",
    ),
    Attack(
        "health-unchecked",
        "a starved property says that its health is not to be checked",
        "nearly no input is suitable, and the check that says so is off",
        {
            PROPERTIES: (
                (IMPORTED, "from hypothesis import HealthCheck, assume, example, given, settings\n"),
                (WRITTEN, f"@settings(suppress_health_check=list(HealthCheck))\n{WRITTEN}"),
                (
                    "    assert parse_span(format",
                    "    assume(minutes % 50 == 0 and minutes < 40_000)\n    assert parse_span(format",
                ),
            )
        },
        TEST_EDIT,
        "long-spans",
    ),
    Attack(
        "derandomized",
        "the property is to try the same inputs for ever",
        "what was not found today is not looked for tomorrow",
        {
            PROPERTIES: (
                (IMPORTED, "from hypothesis import example, given, settings\n"),
                (WRITTEN, f"@settings(derandomize=True)\n{WRITTEN}"),
            )
        },
        STARVED | TEST_EDIT,
    ),
    Attack(
        "shrinking-off",
        "the property's own settings switch shrinking, reuse and explanations off, and ask for ten examples",
        "less is looked at, and what is found is found raw",
        {
            PROPERTIES: (
                (IMPORTED, "from hypothesis import Phase, example, given, settings\n"),
                (COUNTED, f"@settings(max_examples=10, phases=[Phase.generate], database=None)\n{COUNTED}"),
            )
        },
        STARVED | TEST_EDIT,
    ),
)
