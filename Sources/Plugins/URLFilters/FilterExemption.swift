public import Errand

/// The URL, header and body filters that a request or a call skips.
///
/// ```swift
/// struct GetStatus: FilterExemptRequest {}                                       // skips all filters
/// struct GetPrices: FilterExemptRequest { var filterExemption: FilterExemption { ["sign", "token"] } }
/// try await agent.send(GetFeed(), options: CallOptions(tags: Tags().with(FilterExemption.self, ["sign"])))
/// ```
///
/// An exemption applies to URL, header and body filters, by their `name`. The environment filter always runs because it
/// determines the server. If both a request and its call have an exemption, they are combined.
public struct FilterExemption: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var coversAll = false
    private var names: [String] = []

    /// Creates an exemption that skips the filters with these names, from an array literal.
    public init(arrayLiteral elements: String...) { names = elements }
    /// Creates an exemption that skips the filters with these names.
    public init(_ names: some Sequence<String>) { self.names = Array(names) }

    /// Skips no filter. This is the default.
    public static let none = FilterExemption([])
    /// Skips every URL, header and body filter.
    public static let all: FilterExemption = {
        var exemption = FilterExemption.none
        exemption.coversAll = true
        return exemption
    }()

    /// Returns whether the filter with this name is skipped.
    public func contains(_ name: String) -> Bool { coversAll || !names.isEmpty && names.contains(name) }

    /// Returns an exemption that skips the filters of both.
    public func union(_ other: FilterExemption) -> FilterExemption {
        var result = self
        result.coversAll = coversAll || other.coversAll
        result.names += other.names
        return result
    }
}

extension FilterExemption: TagKey {
    /// Calls without this tag skip no filter.
    public static var defaultValue: FilterExemption { .none }
    /// Returns true, because the filters affect the response: calls with different exemptions don't share one.
    public static var affectsResponse: Bool { true }
}

/// A request that skips common filters: all of them, unless it names the ones to skip.
public protocol FilterExemptRequest: Request {
    /// The filters to skip. Defaults to ``FilterExemption/all``.
    var filterExemption: FilterExemption { get }
}

extension FilterExemptRequest {
    /// The default implementation returns ``FilterExemption/all``.
    public var filterExemption: FilterExemption { .all }
}

extension Exchange {
    /// The combined exemption of the request and the call.
    var filterExemption: FilterExemption {
        let call = tags[FilterExemption.self]
        // Check the type first: a failing cast is slow.
        guard type(of: request) is any FilterExemptRequest.Type, let request = request as? any FilterExemptRequest
        else {
            return call
        }
        return request.filterExemption.union(call)
    }
}
