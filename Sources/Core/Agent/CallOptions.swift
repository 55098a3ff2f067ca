public import ErrandHTTP

/// What one call adds to its request: tags, a parent, filters, accessories, a label, a listener. A request is never wrapped for it.
public struct CallOptions: Sendable {
    /// Win over the request's own.
    public var tags: Tags
    /// The batch, chain or request that this call is a part of.
    public var parent: Activity?
    /// Run after the agent's and the request's of the same stage. Empty by default. Those of a batch, a chain or another
    /// composite run for each request that has it as its parent, before that request's call's own.
    public var filters: [any Filter]
    /// Told after the agent's and the request's.
    public var accessories: [any Accessory]
    /// The name for logs, instead of the request's.
    public var label: String?
    /// Receives how far the call is, upload and download, on whatever thread; costs less than an accessory.
    ///
    /// ```swift
    /// CallOptions(progress: { print($0.fraction ?? 0, $0.sent, $0.totalToSend ?? 0) })
    /// ```
    ///
    /// Within one transfer nothing falls; ``ErrandHTTP/TransferProgress/transfer`` tells a new one, such as a retry.
    public var progress: (@Sendable (TransferProgress) -> Void)?

    /// Makes options; nothing is added by default.
    public init(
        tags: Tags = Tags(), parent: Activity? = nil, filters: [any Filter] = [], accessories: [any Accessory] = [],
        label: String? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.tags = tags
        self.parent = parent
        self.filters = filters
        self.accessories = accessories
        self.label = label
        self.progress = progress
    }

    /// Those of the composite that this call is a part of, then its own.
    var allFilters: [any Filter] {
        guard let parent else { return filters }
        return parent.tags[InheritedFilters.self] + filters
    }

    /// Whether a call is a part of an activity itself: it names that activity as its parent, or none. A call that names
    /// another belongs to that one, such as a batch within a chain. For agents that a composite hands to its body.
    public func belongs(to activity: Activity) -> Bool { parent.map { $0.id == activity.id } ?? true }
}

/// Filters of the call that began a composite, for each request that it sends.
enum InheritedFilters: TagKey {
    static var defaultValue: [any Filter] { [] }
}
