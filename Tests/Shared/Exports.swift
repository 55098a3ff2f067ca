/// Whoever imports the shared test code also gets the programs that suites run.
@_exported import ErrandTestPrograms
