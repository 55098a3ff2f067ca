public import Errand
import ErrandEssentials

/// What goes wrong with pages, beside what the requests throw.
public struct PagingError: Error, Sendable, Hashable {
    /// The kind of failure; codes may be added.
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1.
        public let number: Int

        private init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }

        /// A page names itself as the next one, or one before it, so that the list would have no end.
        public static let repeatedPage = Code("repeatedPage", 1)
        /// The page has no number that can be asked for: below the first, or known only to the page before it.
        public static let unreachablePage = Code("unreachablePage", 2)
    }

    /// The kind of failure.
    public let code: Code
    /// The number of the page.
    public let page: Int
}

extension PagingError: CodedError {
    /// One sentence.
    public var description: String {
        code == .repeatedPage
            ? "repeatedPage: page \(page) names itself, or one before it, as the next one"
            : "unreachablePage: page \(page) cannot be asked for"
    }
}
