struct Settlement: Sendable {
    var failure: (any Error)?
    var outcome: ActivityOutcome
}
