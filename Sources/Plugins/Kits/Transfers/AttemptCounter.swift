/// Counts the attempts of a transfer, and decides whether another one follows.
package struct AttemptCounter: Sendable {
    /// All attempts of the run so far.
    package private(set) var attempts = 0
    /// The failures in a row without progress.
    package private(set) var failures = 0
    private var restarts = 0
    private let maximumFailures: Int
    private let maximumAttempts: Int

    /// - Parameter maximumAttempts: nil for no limit.
    package init(maximumFailures: Int, maximumAttempts: Int?) {
        self.maximumFailures = max(0, maximumFailures)
        self.maximumAttempts = maximumAttempts ?? .max
    }

    /// Counts an attempt that failed, and returns whether another one follows.
    package mutating func countFailure(madeProgress: Bool = false) -> Bool {
        attempts += 1
        failures = madeProgress ? 0 : failures + 1
        return failures <= maximumFailures && attempts < maximumAttempts
    }

    /// An attempt made progress.
    package mutating func countProgress() { failures = 0 }

    /// Counts a start from the beginning, and returns whether the transfer may make it: at most three times, so that a
    /// server on which nothing lasts ends it.
    package mutating func countRestart() -> Bool {
        attempts += 1
        restarts += 1
        return restarts <= 3 && attempts < max(2, maximumAttempts)
    }
}
