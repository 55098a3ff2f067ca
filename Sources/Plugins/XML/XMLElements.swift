import Errand

extension XMLEvents {
    /// The elements with a local name, each as a tree as soon as it has ended: an export of any length in little memory.
    ///
    /// ```swift
    /// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
    /// for try await row in export.elements("row") { print(row.attribute("id") ?? "") }
    /// ```
    ///
    /// An element within one of the same name is a part of it.
    ///
    /// - Parameters:
    ///   - local: the name without prefix, in any namespace.
    ///   - limits: of each element; its depth counts from the element.
    public func elements(_ local: String, limits: XMLLimits = .standard) -> XMLElements {
        XMLElements(self, limits) { $0.local == local }
    }

    /// The elements with a name and its namespace; see ``elements(_:limits:)-(String,_)``.
    public func elements(_ name: XMLName, limits: XMLLimits = .standard) -> XMLElements {
        XMLElements(self, limits) { $0 == name }
    }
}

/// Elements of a stream of XML, each as a tree; see ``XMLEvents/elements(_:limits:)-(String,_)``.
public struct XMLElements: AsyncSequence, Sendable {
    /// An element with all that it contains.
    public typealias Element = XMLTree
    /// An error of the transfer or of the document.
    public typealias Failure = any Error

    private let events: XMLEvents
    private let limits: XMLLimits
    private let isWanted: @Sendable (XMLName) -> Bool

    init(_ events: XMLEvents, _ limits: XMLLimits, isWanted: @escaping @Sendable (XMLName) -> Bool) {
        (self.events, self.limits, self.isWanted) = (events, limits.forTree, isWanted)
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), builder: TreeBuilder(limits), isWanted: isWanted)
    }

    /// Pulls the elements.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: XMLEvents.Iterator
        fileprivate var builder: TreeBuilder
        fileprivate let isWanted: @Sendable (XMLName) -> Bool

        /// The next element; nil at the end.
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
