/// Who imports what suites share has the programs that they run as well.
@_exported import ErrandTestPrograms
