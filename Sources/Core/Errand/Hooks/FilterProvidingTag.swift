/// The value of a tag that requires filters to keep its promise, and provides them.
///
/// A mode that must not send, for instance, provides a filter that throws where no plugin has handled the mode:
///
/// ```swift
/// extension OfflineMode: FilterProvidingTag {
///     public var requiredFilters: [any Filter] { [OfflineGuard()] }
/// }
/// ```
///
/// Unlike ``CallOptions/filters`` the filters reach each member of a batch and each step of a chain, because the tags
/// do.
public protocol FilterProvidingTag: Sendable {
    /// Run after all other filters of the same stage.
    var requiredFilters: [any Filter] { get }
}
