"""Tables and pages about NEXMark."""
