extension String {
    /// Concatenates texts with a single allocation.
    init(_ first: String, _ second: String, _ third: String = "") {
        self.init()
        reserveCapacity(first.utf8.count + second.utf8.count + third.utf8.count)
        append(first)
        append(second)
        append(third)
    }
}
