"""What queries read of the movements, one Spark task a file: visits, positions, lengths, meetings.

Each module is named as statements name it (`-- view visits: visits(QueryPoints)`), and has
`scan(source, *arguments)`, which returns a DataFrame.
"""
