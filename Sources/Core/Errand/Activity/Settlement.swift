/// The outcome of an activity, and its error.
struct Settlement: Sendable {
    var failure: (any Error)?
    var outcome: ActivityOutcome
}
