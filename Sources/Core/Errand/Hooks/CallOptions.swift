public import ErrandHTTP
import ErrandSupport

/// The additions of one call to its request: tags, a parent, filters, accessories, a label, a listener. A request is
/// never wrapped for it.
public struct CallOptions: Sendable {
    /// Nil for a call that adds nothing, as most do.
    private var fields: CopyOnWrite<Fields>?

    private struct Fields {
        var tags = Tags()
        var parent: Activity?
        var filters: [any Filter] = []
        var accessories: [any Accessory] = []
        var label: String?
        var progress: (@Sendable (TransferProgress) -> Void)?
    }

    /// The tags of the call; they take precedence over the request's.
    public var tags: Tags {
        get { fields?.value.tags ?? Tags() }
        set { change { $0.tags = newValue } }
    }
    /// The batch, chain or request that this call is a part of.
    public var parent: Activity? {
        get { fields?.value.parent }
        set { change { $0.parent = newValue } }
    }
    /// The filters of the call; they run after the agent's and the request's of the same stage, and before those that a
    /// tag requires. Empty by default. The filters of a batch, a chain or another composite run for each request that
    /// has it as its parent, before the filters of that request's own call.
    public var filters: [any Filter] {
        get { fields?.value.filters ?? [] }
        set { change { $0.filters = newValue } }
    }
    /// Notified after the agent's and the request's.
    public var accessories: [any Accessory] {
        get { fields?.value.accessories ?? [] }
        set { change { $0.accessories = newValue } }
    }
    /// The name for logs, instead of the request's.
    public var label: String? {
        get { fields?.value.label }
        set { change { $0.label = newValue } }
    }
    /// Receives how far the call is, upload and download, on any thread; costs less than an accessory. A closure that
    /// changes a view is `progressOnMain` in the initializer.
    ///
    /// ```swift
    /// CallOptions(progress: { print($0.fraction ?? 0, $0.sent, $0.totalToSend ?? 0) })
    /// ```
    ///
    /// Within one transfer nothing falls; a new one, such as a retry, has another
    /// ``ErrandHTTP/TransferProgress/transfer``.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { fields?.value.progress }
        set { change { $0.progress = newValue } }
    }

    /// Options that add nothing.
    public init() {}

    /// Makes options; nothing is added by default.
    public init(
        tags: Tags = Tags(), parent: Activity? = nil, filters: [any Filter] = [], accessories: [any Accessory] = [],
        label: String? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        fields = CopyOnWrite(
            Fields(
                tags: tags, parent: parent, filters: filters, accessories: accessories, label: label, progress: progress
            ))
    }

    /// The same with a closure for progress that runs on the main actor, such as one that changes a view.
    ///
    /// ```swift
    /// CallOptions(progressOnMain: { bar.progress = $0.fraction ?? 0 })
    /// ```
    ///
    /// It receives values in their order; of several that wait for the main actor, the newest.
    public init(
        tags: Tags = Tags(), parent: Activity? = nil, filters: [any Filter] = [], accessories: [any Accessory] = [],
        label: String? = nil, progressOnMain: @escaping @MainActor @Sendable (TransferProgress) -> Void
    ) {
        let listener = MainActorListener(merging: { _, newest in newest }, progressOnMain)
        self.init(
            tags: tags, parent: parent, filters: filters, accessories: accessories, label: label,
            progress: { listener.receive($0) })
    }

    /// The same options with those of `other` added: its tags take precedence, its filters and accessories follow, and its
    /// parent, label and progress listener replace these where it has some.
    ///
    /// ```swift
    /// let options = CallOptions(label: "feed").merging(CallOptions(tags: Tags().with(Screen.self, "home")))
    /// ```
    public func merging(_ other: CallOptions) -> CallOptions {
        guard other.fields != nil else { return self }
        guard fields != nil else { return other }
        return CallOptions(
            tags: tags.merging(other.tags), parent: other.parent ?? parent, filters: filters + other.filters,
            accessories: accessories + other.accessories, label: other.label ?? label,
            progress: other.progress ?? progress)
    }

    private mutating func change(_ change: (inout Fields) -> Void) {
        var changed = fields ?? CopyOnWrite(Fields())
        fields = nil
        change(&changed.value)
        fields = changed
    }

    /// The filters of the composite that this call is a part of, then its own.
    var allFilters: [any Filter] {
        guard let parent else { return filters }
        return filters.isEmpty ? parent.tags[InheritedFilters.self] : parent.tags[InheritedFilters.self] + filters
    }

    /// Whether a call is a part of an activity itself: it names that activity as its parent, or none. A call that names
    /// another belongs to that one, such as a batch within a chain. For agents that a composite hands to its body.
    public func belongs(to activity: Activity) -> Bool { parent.map { $0.id == activity.id } ?? true }
}

/// Filters of the call that began a composite, for each request that it sends.
enum InheritedFilters: TagKey {
    static var defaultValue: [any Filter] { [] }
}
