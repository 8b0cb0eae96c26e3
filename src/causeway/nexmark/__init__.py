"""NEXMark: queries over the streams of an auction house."""
