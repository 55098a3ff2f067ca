import ErrandTesting

/// A list that several threads append to, and that a test can wait for.
package final class Log<Element: Sendable>: Sendable {
    private let elements = Watched<[Element]>([])

    package init() {}

    package func add(_ element: Element) { elements.update { $0.append(element) } }

    /// Releases the elements, for example at the end of a leak-checked test.
    package func removeAll() { elements.update { $0 = [] } }

    package var all: [Element] { elements.read { $0 } }

    package var count: Int { elements.read { $0.count } }

    /// Returns as soon as the elements satisfy `isSo`. Throws ``WaitTimeout`` after `limit`, and `CancellationError`.
    package func wait(
        within limit: Duration = .seconds(300), until isSo: @escaping @Sendable ([Element]) -> Bool
    ) async throws {
        try await elements.wait(for: "elements of a log", within: limit) { isSo($0) ? () : nil }
    }
}
