"""What every streaming pipeline here is built from.

    delivery  brings the input: where a query reads it, how far it has got, when it ends
    clock     when each part of the input is due
    cells     many rows in one cell of bytes
    state     a shard's cells in Spark's state store
    sink      a batch's output under its number, readable when its note is there
    watch     a query at work: its failures, its progress, waiting for it
    run_folder  a run on disk: settings, facts, lock, log, how it is resumed
    linear_road_fields  what one input tuple of Linear Road has

Files are the one kind of delivery and sink today. A benchmark's own source, kernel and sink are in its
folder.
"""
