public import Errand

/// The URL, header and body filters that a request or call skips.
///
/// ```swift
/// struct GetStatus: FilterExemptRequest {}                                       // skips all filters
/// struct GetPrices: FilterExemptRequest { var filterExemption: FilterExemption { ["sign", "token"] } }
/// try await agent.send(GetFeed(), options: CallOptions(tags: Tags().with(FilterExemption.self, ["sign"])))
/// ```
///
/// An exemption identifies filters by their `name`. It doesn't apply to the environment filter, because that filter
/// determines the server. If both a request and its call have an exemption, both exemptions apply.
public struct FilterExemption: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var coversAll = false
    private var names: [String] = []

    /// Creates an exemption from an array literal of filter names.
    public init(arrayLiteral elements: String...) { names = elements }
    /// Creates an exemption from filter names.
    public init(_ names: some Sequence<String>) { self.names = Array(names) }

    /// An exemption that doesn't skip any filter. This is the default.
    public static let none = FilterExemption([])
    /// An exemption that skips every URL, header and body filter.
    public static let all: FilterExemption = {
        var exemption = FilterExemption.none
        exemption.coversAll = true
        return exemption
    }()

    /// Returns whether the exemption skips the filter with this name.
    public func contains(_ name: String) -> Bool { coversAll || !names.isEmpty && names.contains(name) }

    /// Returns an exemption that skips the filters of this exemption and of another.
    public func union(_ other: FilterExemption) -> FilterExemption {
        var result = self
        result.coversAll = coversAll || other.coversAll
        result.names += other.names
        return result
    }
}

extension FilterExemption: TagKey {
    /// Returns ``none``.
    public static var defaultValue: FilterExemption { .none }
    /// Returns `true`, because filters affect the response. Calls with different exemptions therefore don't share a
    /// response.
    public static var affectsResponse: Bool { true }
}

/// A request that skips the URL, header and body filters of its agent: all of them, or only some, as its
/// ``FilterExemption`` specifies.
public protocol FilterExemptRequest: Request {
    /// The filters to skip. Defaults to ``FilterExemption/all``.
    var filterExemption: FilterExemption { get }
}

extension FilterExemptRequest {
    /// Returns ``FilterExemption/all``.
    public var filterExemption: FilterExemption { .all }
}

extension Exchange {
    var filterExemption: FilterExemption {
        let call = tags[FilterExemption.self]
        // Check the type first, because a failing cast is slow.
        guard type(of: request) is any FilterExemptRequest.Type, let request = request as? any FilterExemptRequest
        else {
            return call
        }
        return request.filterExemption.union(call)
    }
}
