public import Errand

/// Which of the common filters a request or a call goes without.
///
/// ```swift
/// struct GetStatus: FilterExemptRequest {}                                       // all of them
/// struct GetPrices: FilterExemptRequest { var filterExemption: FilterExemption { ["sign", "token"] } }
/// try await agent.send(GetFeed(), options: CallOptions(tags: Tags().with(FilterExemption.self, ["sign"])))
/// ```
///
/// It counts for URL, header and body filters, by their `name`; nobody is exempt from the environment, which says where
/// the service is. What a request and its call are exempt from is added up.
public struct FilterExemption: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var coversAll = false
    private var names: [String] = []

    /// Filters by name.
    public init(arrayLiteral elements: String...) { names = elements }
    /// Filters by name.
    public init(_ names: some Sequence<String>) { self.names = Array(names) }

    /// No exemption; the default.
    public static let none = FilterExemption([])
    /// Every filter.
    public static let all: FilterExemption = {
        var exemption = FilterExemption.none
        exemption.coversAll = true
        return exemption
    }()

    /// Whether it covers a filter of this name.
    public func contains(_ name: String) -> Bool { coversAll || !names.isEmpty && names.contains(name) }

    /// What either covers.
    public func union(_ other: FilterExemption) -> FilterExemption {
        var result = self
        result.coversAll = coversAll || other.coversAll
        result.names += other.names
        return result
    }
}

extension FilterExemption: TagKey {
    /// None.
    public static var defaultValue: FilterExemption { .none }
}

/// A request that goes without common filters: without all of them unless it says which.
public protocol FilterExemptRequest: Request {
    /// `.all` by default.
    var filterExemption: FilterExemption { get }
}

extension FilterExemptRequest {
    /// All of them.
    public var filterExemption: FilterExemption { .all }
}

extension Exchange {
    /// What its request and its call say together.
    var filterExemption: FilterExemption {
        let call = tags[FilterExemption.self]
        guard let request = request as? any FilterExemptRequest else { return call }
        return request.filterExemption.union(call)
    }
}
