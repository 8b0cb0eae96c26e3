"""The firehose (section 4.1): what happens in an auction house, made from event numbers alone."""
