/// The limits for reading a document. Negative numbers count as 0.
///
/// ```swift
/// var limits = XMLLimits.standard
/// limits.maximumBytes = 1 << 20
/// let feed = try XMLTree(data, limits: limits)
/// ```
public struct XMLLimits: Sendable, Hashable {
    /// The maximum nesting depth of elements. Defaults to 256. For a tree, ``maximumTreeDepth`` also applies.
    public var maximumDepth = 256
    /// The maximum length of the document in bytes of UTF-8. Defaults to 64 MiB.
    public var maximumBytes = 64 << 20
    /// The maximum number of elements, attributes and texts in a tree. Defaults to 1,000,000, which take about 200 MB.
    public var maximumNodes = 1_000_000
    /// The maximum number of attributes of an element, including namespace declarations. Defaults to 1,000.
    public var maximumAttributes = 1_000
    /// The maximum length of a tag, comment or processing instruction in bytes. Defaults to 1 MiB.
    public var maximumMarkupBytes = 1 << 20
    /// Whether to skip a document type declaration that refers to an external declaration, such as `<!DOCTYPE html
    /// PUBLIC …>`. Defaults to `false`, which rejects the document.
    ///
    /// The external declaration is never loaded. A document type declaration that itself contains declarations is
    /// always rejected, so only XML's five predefined entities exist. A declaration with only a name, such as
    /// `<!DOCTYPE html>`, is always skipped.
    public var skipsDocumentType = false

    /// The maximum depth of a tree: 1,000. A deeper tree could overflow the stack when it's released.
    public static let maximumTreeDepth = 1_000

    /// The limits for a document in memory: 64 MiB, 256 levels, 1,000,000 nodes.
    public static let standard = XMLLimits()

    /// The limits for a stream. The same as ``standard``, but without a maximum document length.
    public static var streaming: XMLLimits {
        var limits = XMLLimits()
        limits.maximumBytes = .max
        return limits
    }

    /// Creates limits with the defaults.
    public init() {}

    var forTree: XMLLimits {
        var limits = self
        limits.maximumDepth = min(maximumDepth, Self.maximumTreeDepth)
        return limits
    }
}
