/// A range expression whose bounds can be shown in messages.
struct JSONBounds<Value: Comparable & Sendable>: Sendable {
    fileprivate var lower: Value?
    fileprivate var upper: Value?
    fileprivate var excludesUpper = false
    fileprivate var other: (@Sendable (Value) -> Bool)?

    init(_ range: some RangeExpression<Value> & Sendable) {
        switch range {
        case let range as ClosedRange<Value>: (lower, upper) = (range.lowerBound, range.upperBound)
        case let range as Range<Value>: (lower, upper, excludesUpper) = (range.lowerBound, range.upperBound, true)
        case let range as PartialRangeFrom<Value>: lower = range.lowerBound
        case let range as PartialRangeThrough<Value>: upper = range.upperBound
        case let range as PartialRangeUpTo<Value>: (upper, excludesUpper) = (range.upperBound, true)
        default: other = { range.contains($0) }
        }
    }

    init(atLeast lower: Value) { self.lower = lower }

    func contains(_ value: Value) -> Bool {
        if let other { return other(value) }
        if let lower, !(value >= lower) { return false }
        guard let upper else { return true }
        return excludesUpper ? value < upper : value <= upper
    }

    var text: String? {
        if other != nil { return nil }
        if let lower, let upper, lower == upper, !excludesUpper { return "\(lower)" }
        return "\(lower.map { "\($0)" } ?? "")\(excludesUpper ? "..<" : "...")\(upper.map { "\($0)" } ?? "")"
    }
}

extension JSONBounds where Value == Int {
    /// For example "at least 1" or "2 to 4", or `nil` for a custom or empty range.
    var amount: String? {
        if excludesUpper, upper == lower ?? .min { return nil }
        let last = upper.map { excludesUpper ? $0 - 1 : $0 }
        return switch (lower, last) {
        case _ where other != nil: nil
        case (let lower?, let last?): lower == last ? "\(lower)" : "\(lower) to \(last)"
        case (let lower?, nil): "at least \(lower)"
        case (nil, let last?): "at most \(last)"
        case (nil, nil): nil
        }
    }

    var isAtLeastOne: Bool { lower == 1 && upper == nil && other == nil }
}
