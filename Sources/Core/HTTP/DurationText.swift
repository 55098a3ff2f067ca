extension DefaultStringInterpolation {
    /// Inserts a duration as people read it: `"again in \(duration: wait)"` becomes "again in 82 ms" or "again in 1.5
    /// s".
    ///
    /// Rounds to a tenth of a second, to a millisecond below one second, and to a microsecond below one millisecond.
    public mutating func appendInterpolation(duration: Duration) {
        let seconds = duration / .seconds(1)
        let (milliseconds, microseconds) = ((seconds * 1e3).rounded(), (seconds * 1e6).rounded())
        if microseconds == 0 || milliseconds.magnitude >= 1000 {
            append((seconds * 10).rounded() / 10, "s")
        } else if microseconds.magnitude >= 1000 {
            append(milliseconds, "ms")
        } else {
            append(microseconds, "µs")
        }
    }

    private mutating func append(_ number: Double, _ unit: String) {
        let text = "\(number)"
        appendLiteral("\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text) \(unit)")
    }
}
