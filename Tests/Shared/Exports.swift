/// Importing the shared test code also imports the programs that suites run.
@_exported import ErrandTestPrograms
