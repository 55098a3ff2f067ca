/// The limits for reading a document. Negative numbers count as zero.
///
/// ```swift
/// var limits = XMLLimits.standard
/// limits.maximumBytes = 1 << 20
/// let feed = try XMLTree(data, limits: limits)
/// ```
public struct XMLLimits: Sendable, Hashable {
    /// The maximum nesting of elements. Defaults to 256. A tree is never deeper than ``maximumTreeDepth``.
    public var maximumDepth = 256
    /// The maximum length of the document in bytes of UTF-8. Defaults to 64 MiB, the most that an agent collects in
    /// memory.
    public var maximumBytes = 64 << 20
    /// The maximum total number of elements, attributes, and texts in a tree. Defaults to 1,000,000, about 200 MB.
    public var maximumNodes = 1_000_000
    /// The maximum number of attributes of an element, including namespace declarations. Defaults to 1,000.
    public var maximumAttributes = 1_000
    /// The maximum length in bytes of a tag, comment, or processing instruction. Defaults to 1 MiB.
    public var maximumMarkupBytes = 1 << 20
    /// Whether to skip, instead of reject, a document type declaration that refers to an external one. Defaults to
    /// false.
    ///
    /// An example is `<!DOCTYPE html PUBLIC …>`. The external declaration is never loaded. A declaration that contains
    /// its own declarations is always rejected, so only XML's five predefined entities exist. A declaration that
    /// consists of a name is always skipped.
    public var skipsDocumentType = false

    /// The maximum depth of a tree, 1,000, because releasing a tree takes stack space.
    public static let maximumTreeDepth = 1_000

    /// The limits of a document in memory: 64 MiB, 256 levels, 1,000,000 nodes.
    public static let standard = XMLLimits()

    /// The default limits of a stream, without a maximum length.
    public static var streaming: XMLLimits {
        var limits = XMLLimits()
        limits.maximumBytes = .max
        return limits
    }

    /// Creates limits in which every property has its default.
    public init() {}

    /// The limits with the depth capped for a tree.
    var forTree: XMLLimits {
        var limits = self
        limits.maximumDepth = min(maximumDepth, Self.maximumTreeDepth)
        return limits
    }
}
