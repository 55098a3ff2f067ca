public import Errand

/// The common filters that do not apply to a request or a call.
///
/// ```swift
/// struct GetStatus: FilterExemptRequest {}                                       // all of them
/// struct GetPrices: FilterExemptRequest { var filterExemption: FilterExemption { ["sign", "token"] } }
/// try await agent.send(GetFeed(), options: CallOptions(tags: Tags().with(FilterExemption.self, ["sign"])))
/// ```
///
/// It applies to URL, header and body filters, by their `name`. The environment filter always applies, since it determines
/// the server. The exemptions of a request and of its call are combined.
public struct FilterExemption: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var coversAll = false
    private var names: [String] = []

    /// The filters of these names.
    public init(arrayLiteral elements: String...) { names = elements }
    /// The filters of these names.
    public init(_ names: some Sequence<String>) { self.names = Array(names) }

    /// No exemption; the default.
    public static let none = FilterExemption([])
    /// Every filter.
    public static let all: FilterExemption = {
        var exemption = FilterExemption.none
        exemption.coversAll = true
        return exemption
    }()

    /// Whether a filter of this name does not apply.
    public func contains(_ name: String) -> Bool { coversAll || !names.isEmpty && names.contains(name) }

    /// Both exemptions combined.
    public func union(_ other: FilterExemption) -> FilterExemption {
        var result = self
        result.coversAll = coversAll || other.coversAll
        result.names += other.names
        return result
    }
}

extension FilterExemption: TagKey {
    /// ``none``
    public static var defaultValue: FilterExemption { .none }
    /// True.
    public static var affectsResponse: Bool { true }
}

/// A request that common filters do not apply to: all of them, unless it names some.
public protocol FilterExemptRequest: Request {
    /// The filters that do not apply; `.all` by default.
    var filterExemption: FilterExemption { get }
}

extension FilterExemptRequest {
    /// ``FilterExemption/all``
    public var filterExemption: FilterExemption { .all }
}

extension Exchange {
    /// The combined exemption of the request and of the call.
    var filterExemption: FilterExemption {
        let call = tags[FilterExemption.self]
        // The type alone first: a cast that fails is slow.
        guard type(of: request) is any FilterExemptRequest.Type, let request = request as? any FilterExemptRequest
        else {
            return call
        }
        return request.filterExemption.union(call)
    }
}
