"""Events on disk and in delivery: data sets, slices, their text formats, the firehose."""
