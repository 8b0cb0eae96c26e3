"""Tables and pages about Linear Road."""
