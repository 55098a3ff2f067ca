public import Errand

/// Exempts a request or a call from common filters.
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

    /// Exempts from the filters with these names.
    public init(arrayLiteral elements: String...) { names = elements }
    /// Exempts from the filters with these names.
    public init(_ names: some Sequence<String>) { self.names = Array(names) }

    /// No exemption. This is the default.
    public static let none = FilterExemption([])
    /// Exempts from every filter.
    public static let all: FilterExemption = {
        var exemption = FilterExemption.none
        exemption.coversAll = true
        return exemption
    }()

    /// Whether the filter with this name is skipped.
    public func contains(_ name: String) -> Bool { coversAll || !names.isEmpty && names.contains(name) }

    /// Returns the combination of two exemptions.
    public func union(_ other: FilterExemption) -> FilterExemption {
        var result = self
        result.coversAll = coversAll || other.coversAll
        result.names += other.names
        return result
    }
}

extension FilterExemption: TagKey {
    /// Defaults to ``none``.
    public static var defaultValue: FilterExemption { .none }
    /// The exemption affects the response.
    public static var affectsResponse: Bool { true }
}

/// A request that skips common filters: all of them, unless it names some.
public protocol FilterExemptRequest: Request {
    /// The filters to skip. Defaults to `.all`.
    var filterExemption: FilterExemption { get }
}

extension FilterExemptRequest {
    /// Defaults to ``FilterExemption/all``.
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
