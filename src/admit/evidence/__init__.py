"""Our documents on disk: read strictly, written as a run goes, merged under the laws (contract section 3)."""
