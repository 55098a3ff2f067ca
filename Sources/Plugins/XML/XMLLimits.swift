/// The limits of the documents that are read. Negative numbers count as zero.
///
/// ```swift
/// var limits = XMLLimits.standard
/// limits.maximumBytes = 1 << 20
/// let feed = try XMLTree(data, limits: limits)
/// ```
public struct XMLLimits: Sendable, Hashable {
    /// The maximum nesting of elements; 256 by default. A tree is never deeper than ``maximumTreeDepth``.
    public var maximumDepth = 256
    /// The maximum length of the document in bytes of UTF-8; 64 MiB by default, the most that an agent collects in
    /// memory.
    public var maximumBytes = 64 << 20
    /// The maximum number of elements, attributes and texts in a tree together; 1,000,000 by default, some 200 MB.
    public var maximumNodes = 1_000_000
    /// The maximum number of attributes of an element, with declarations of namespaces; 1,000 by default.
    public var maximumAttributes = 1_000
    /// The maximum length in bytes of one tag, comment or processing instruction; 1 MiB by default.
    public var maximumMarkupBytes = 1 << 20
    /// Whether a document type declaration that names an external one (`<!DOCTYPE html PUBLIC …>`) is skipped instead
    /// of rejected; false by default. It is never loaded. One with declarations of its own is always rejected, so there
    /// are no entities except the five of XML; one that has only a name declares nothing, and is always skipped.
    public var skipsDocumentType = false

    /// The depth beyond which no tree is built, since releasing it takes stack: 1,000.
    public static let maximumTreeDepth = 1_000

    /// The default limits.
    public static let standard = XMLLimits()

    /// The default limits of a stream: any length.
    public static var streaming: XMLLimits {
        var limits = XMLLimits()
        limits.maximumBytes = .max
        return limits
    }

    /// Makes the default limits.
    public init() {}

    /// The same limits for a tree.
    var forTree: XMLLimits {
        var limits = self
        limits.maximumDepth = min(maximumDepth, Self.maximumTreeDepth)
        return limits
    }
}
