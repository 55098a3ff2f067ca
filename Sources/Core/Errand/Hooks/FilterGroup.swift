public import ErrandHTTP

/// A filter that stands for several, each in its own stage, at its place in the array.
///
/// ```swift
/// struct Courtesy: FilterGroup {
///     let filters: [any Filter]
///     init(_ first: any Filter, _ second: any Filter) { filters = [first, second] }
/// }
/// ```
///
/// Core puts the members in its place; its own `filter`, stages and traits are not used.
/// ``NetworkAgent/explain(_:options:)`` shows the members.
public protocol FilterGroup: Filter {
    /// The members, in the order in which they run within a stage. A member may be a group.
    var filters: [any Filter] { get }
}

extension FilterGroup {
    /// Passes the exchange on: the members do the work.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

extension [any Filter] {
    /// With the members of groups in their places. A group within itself ends at 16 levels.
    func ungrouped(depth: Int = 16) -> [any Filter] {
        guard depth > 0, contains(where: { $0 is any FilterGroup }) else { return self }
        return flatMap { ($0 as? any FilterGroup)?.filters.ungrouped(depth: depth - 1) ?? [$0] }
    }
}
