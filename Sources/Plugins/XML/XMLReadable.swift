/// A value that is read from XML, so that it can be the output of a request.
///
/// ```swift
/// struct Feed: XMLReadable {
///     let titles: [String]
///     init(xml: XMLTree) throws { titles = xml["channel"]?.all("item").compactMap { $0["title"]?.text } ?? [] }
/// }
/// let feed = try await agent.send(Call<Feed>(.get, "feed.xml")).value
/// ```
public protocol XMLReadable: Sendable {
    /// Reads the value from the root element. Its error reaches the caller as it is.
    init(xml: XMLTree) throws
}

extension XMLTree: XMLReadable {
    /// The tree itself.
    public init(xml: XMLTree) { self = xml }
}
