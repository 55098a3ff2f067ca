public import ErrandHTTP
import ErrandSupport

/// Options of a single call.
public struct CallOptions: Sendable {
    /// The options, or nil if no option is set, which is the most common case.
    private var fields: CopyOnWrite<Fields>?

    private struct Fields {
        var tags = Tags()
        var parent: Activity?
        var filters: [any Filter] = []
        var accessories: [any Accessory] = []
        var label: String?
        var progress: (@Sendable (TransferProgress) -> Void)?
    }

    /// Tags for filters, accessories and cancellation. They take precedence over the request's tags.
    public var tags: Tags {
        get { fields?.value.tags ?? Tags() }
        set { change { $0.tags = newValue } }
    }
    /// The batch, chain or request that this call belongs to.
    public var parent: Activity? {
        get { fields?.value.parent }
        set { change { $0.parent = newValue } }
    }
    /// Filters for the call. Defaults to empty.
    ///
    /// In each stage, the call's filters run after the agent's and the request's filters, and before filters that a tag
    /// requires. If the call is a composite, such as a batch, its filters run for each of its requests, before the
    /// filters in the options of that request.
    public var filters: [any Filter] {
        get { fields?.value.filters ?? [] }
        set { change { $0.filters = newValue } }
    }
    /// Accessories that observe the call, notified after the agent's and the request's. Defaults to empty.
    public var accessories: [any Accessory] {
        get { fields?.value.accessories ?? [] }
        set { change { $0.accessories = newValue } }
    }
    /// The call's name in logs, instead of the request's. Defaults to nil.
    public var label: String? {
        get { fields?.value.label }
        set { change { $0.label = newValue } }
    }
    /// Receives the upload and download progress, on any thread. To update a view, use `progressOnMain` in the
    /// initializer.
    ///
    /// ```swift
    /// CallOptions(progress: { print($0.fraction ?? 0, $0.sent, $0.totalToSend ?? 0) })
    /// ```
    ///
    /// Values never decrease within a transfer. A new transfer, such as a retry, has a new number in
    /// ``ErrandHTTP/TransferProgress/transfer``.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { fields?.value.progress }
        set { change { $0.progress = newValue } }
    }

    /// Creates options without changes.
    public init() {}

    /// Creates options. See the properties.
    public init(
        tags: Tags = Tags(), parent: Activity? = nil, filters: [any Filter] = [], accessories: [any Accessory] = [],
        label: String? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        fields = CopyOnWrite(
            Fields(
                tags: tags, parent: parent, filters: filters, accessories: accessories, label: label, progress: progress
            ))
    }

    /// Creates options with a progress closure that runs on the main actor, for example to update a view.
    ///
    /// ```swift
    /// CallOptions(progressOnMain: { bar.progress = $0.fraction ?? 0 })
    /// ```
    ///
    /// Values arrive in order. Of several waiting values, only the newest is delivered.
    public init(
        tags: Tags = Tags(), parent: Activity? = nil, filters: [any Filter] = [], accessories: [any Accessory] = [],
        label: String? = nil, progressOnMain: @escaping @MainActor @Sendable (TransferProgress) -> Void
    ) {
        let listener = MainActorListener(merging: { _, newest in newest }, progressOnMain)
        self.init(
            tags: tags, parent: parent, filters: filters, accessories: accessories, label: label,
            progress: { listener.receive($0) })
    }

    /// Returns these options combined with `other`. The tags, parent, label and progress closure of `other` take
    /// precedence. The filters and accessories of `other` come last.
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

    var allFilters: [any Filter] {
        guard let parent else { return filters }
        return filters.isEmpty ? parent.tags[InheritedFilters.self] : parent.tags[InheritedFilters.self] + filters
    }

    /// Returns whether a call with these options is a direct member of an activity: its `parent` is the activity or
    /// nil. Call it in an agent that a composite passes to its body.
    public func belongs(to activity: Activity) -> Bool { parent.map { $0.id == activity.id } ?? true }
}

/// The filters of the call that started a composite, for each of the composite's requests.
enum InheritedFilters: TagKey {
    static var defaultValue: [any Filter] { [] }
}
