import Errand

extension XMLEvents {
    /// Returns the elements with a local name, each as a tree as soon as it's complete.
    ///
    /// Use it to read an export of any length in little memory:
    ///
    /// ```swift
    /// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
    /// for try await row in export.elements("row") { print(row.attribute("id") ?? "") }
    /// ```
    ///
    /// An element nested in an element of the same name is part of that element's tree.
    ///
    /// - Parameters:
    ///   - local: The name without a prefix, in any namespace.
    ///   - limits: The limits for each element. Depth counts from the element.
    public func elements(_ local: String, limits: XMLLimits = .standard) -> XMLElements {
        XMLElements(self, limits) { $0.local == local }
    }

    /// Returns the elements with a name in its namespace. See ``elements(_:limits:)-(String,_)``.
    public func elements(_ name: XMLName, limits: XMLLimits = .standard) -> XMLElements {
        XMLElements(self, limits) { $0 == name }
    }
}

/// The elements in a stream of XML, each as a tree. See ``XMLEvents/elements(_:limits:)-(String,_)``.
public struct XMLElements: AsyncSequence, Sendable {
    /// An element with all its content.
    public typealias Element = XMLTree
    /// An error of the transfer or the document.
    public typealias Failure = any Error

    private let events: XMLEvents
    private let limits: XMLLimits
    private let isWanted: @Sendable (XMLName) -> Bool

    init(_ events: XMLEvents, _ limits: XMLLimits, isWanted: @escaping @Sendable (XMLName) -> Bool) {
        (self.events, self.limits, self.isWanted) = (events, limits.forTree, isWanted)
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), builder: TreeBuilder(limits), isWanted: isWanted)
    }

    /// Reads one element at a time.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: XMLEvents.Iterator
        fileprivate var builder: TreeBuilder
        fileprivate let isWanted: @Sendable (XMLName) -> Bool

        /// Returns the next element, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> XMLTree? {
            while let event = try await events.next(isolation: actor) {
                if !builder.isWithinElement {
                    guard case .start(let name, _) = event, isWanted(name) else { continue }
                }
                do { try builder.add(event) } catch {
                    let location = events.location
                    events.end()
                    throw XMLError(error.code, error.message, at: location)
                }
                if let element = builder.takeFinished().first { return element }
            }
            return nil
        }
    }
}
