// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Foundation's extensions of FoundationEssentials types, and its parsers.

public struct ObjCBool: ExpressibleByBooleanLiteral, Sendable {
    public var boolValue: Bool
    public init(_ value: Bool) { boolValue = value }
    public init(booleanLiteral value: Bool) { boolValue = value }
}

public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let isDirectoryKey = URLResourceKey(rawValue: "NSURLIsDirectoryKey")
}

open class NSEnumerator: NSObject, Sequence {
    public struct Iterator: IteratorProtocol { public mutating func next() -> Any? { fatalError() } }
    @available(*, noasync) public func makeIterator() -> Iterator { fatalError() }
    open func nextObject() -> Any? { fatalError() }
}

extension FileManager {
    // Not Sendable, as in the SDK.
    open class DirectoryEnumerator: NSEnumerator {}

    public func subpaths(atPath path: String) -> [String]? { fatalError() }
    public func fileExists(atPath path: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool { fatalError() }
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] { fatalError() }
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = [], errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? { fatalError() }
}

public struct CharacterSet: Hashable, ExpressibleByArrayLiteral, Sendable {
    public init(arrayLiteral elements: Unicode.Scalar...) { fatalError() }
    public static var alphanumerics: CharacterSet { fatalError() }
    public static var whitespaces: CharacterSet { fatalError() }
    public static var whitespacesAndNewlines: CharacterSet { fatalError() }
    public static var newlines: CharacterSet { fatalError() }
    public static var urlPathAllowed: CharacterSet { fatalError() }
    public init(charactersIn string: String) { fatalError() }
}

extension NSString {
    public struct CompareOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let regularExpression = Self(rawValue: 1024)
    }
}
open class NSString: NSObject {}

public struct NSRange: Equatable, Sendable {
    public init<Region: RangeExpression, Target: StringProtocol>(_ region: Region, in target: Target)
    where Region.Bound == Target.Index { fatalError() }
}

extension Range where Bound == String.Index {
    public init?(_ range: NSRange, in string: some StringProtocol) { fatalError() }
}

open class NSRegularExpression: NSObject {
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct MatchingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public init(pattern: String, options: Options = []) throws { fatalError() }
    open func matches(
        in string: String, options: MatchingOptions = [], range: NSRange
    ) -> [NSTextCheckingResult] { fatalError() }
}

open class NSTextCheckingResult: NSObject {
    open func range(at index: Int) -> NSRange { fatalError() }
}

extension String {
    public var precomposedStringWithCanonicalMapping: String { fatalError() }
    public init(format: String, _ arguments: any CVarArg...) { fatalError() }
}

extension StringProtocol {
    public func trimmingCharacters(in set: CharacterSet) -> String { fatalError() }
    public var removingPercentEncoding: String? { fatalError() }
    public func addingPercentEncoding(withAllowedCharacters allowed: CharacterSet) -> String? { fatalError() }
    public func replacingOccurrences<Target: StringProtocol, Replacement: StringProtocol>(
        of target: Target, with replacement: Replacement, options: NSString.CompareOptions = [],
        range: Range<Index>? = nil
    ) -> String { fatalError() }
    public func range<T: StringProtocol>(
        of string: T, options: NSString.CompareOptions = [], range: Range<Index>? = nil, locale: Locale? = nil
    ) -> Range<Index>? { fatalError() }
}

extension Data {
    public func range(of data: Data, options: SearchOptions = [], in range: Range<Index>? = nil) -> Range<Index>? {
        fatalError()
    }
}

open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fragmentsAllowed = Self(rawValue: 4)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let prettyPrinted = Self(rawValue: 1)
        public static let sortedKeys = Self(rawValue: 2)
        public static let fragmentsAllowed = Self(rawValue: 4)
    }
    open class func jsonObject(with data: Data, options: ReadingOptions = []) throws -> Any { fatalError() }
    open class func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data { fatalError() }
}

open class DateFormatter: NSObject, @unchecked Sendable {
    open var locale: Locale! {
        get { fatalError() }
        set { fatalError() }
    }
    open var timeZone: TimeZone! {
        get { fatalError() }
        set { fatalError() }
    }
    open var dateFormat: String! {
        get { fatalError() }
        set { fatalError() }
    }
    open func string(from date: Date) -> String { fatalError() }
    open func date(from string: String) -> Date? { fatalError() }
}

extension JSONDecoder.DateDecodingStrategy {
    public static func formatted(_ formatter: DateFormatter) -> Self { fatalError() }
}

// Not Sendable, as in the SDK.
open class XMLParser: NSObject {
    public init(data: Data) { fatalError() }
    public convenience init(stream: InputStream) { fatalError() }
    open weak var delegate: (any XMLParserDelegate)?
    open var shouldProcessNamespaces: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    open var shouldReportNamespacePrefixes: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    open var shouldResolveExternalEntities: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    open var parserError: (any Error)? { fatalError() }
    open var lineNumber: Int { fatalError() }
    open var columnNumber: Int { fatalError() }
    open func parse() -> Bool { fatalError() }
    open func abortParsing() { fatalError() }
}
public protocol XMLParserDelegate: NSObjectProtocol {
    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String])
    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?)
    func parser(_ parser: XMLParser, foundCharacters string: String)
    func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data)
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error)
}
// The requirements are optional in the SDK.
extension XMLParserDelegate {
    public func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {}
    public func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) {}
    public func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {}
}
