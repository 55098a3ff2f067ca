public import Errand
import ErrandEssentials

// Start here: conform a request to ``PagedRequest``; then `agent.pages(of:)`, or a ``PageController`` for a screen.

/// A failure in the sequence of pages, beside the errors of the requests.
public struct PagingError: Error, Sendable, Hashable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<PagingError>

    /// The kind of failure.
    public let code: Code
    /// The number of the page.
    public let page: Int
}

extension FailureCode<PagingError> {
    /// A page names itself as the next one, or one before it, so that the list would have no end; or pages that are
    /// counted show the same items again although the total promises more.
    public static var repeatedPage: Self { Self("repeatedPage", 1) }
    /// The page has no number that can be requested: it is below the first, or known only to the page before it.
    public static var unreachablePage: Self { Self("unreachablePage", 2) }
    /// The "next" link of the page is not a URL, so that the rest of the list is unknown.
    public static var invalidLink: Self { Self("invalidLink", 3) }
    /// 1,000 pages in a row brought nothing new: they're empty, though each names another one, or all their items are
    /// equal.
    public static var endlessList: Self { Self("endlessList", 4) }
}

extension PagingError: CodedError {
    /// One sentence.
    public var description: String {
        switch code {
        case .repeatedPage:
            "repeatedPage: page \(page) names itself, or one before it, as the next one, or repeats its items"
        case .invalidLink: "invalidLink: the next link of page \(page) is not a URL"
        case .endlessList: "endlessList: \(PageHistory.maximumIdlePages) pages up to page \(page) brought nothing new"
        default: "unreachablePage: page \(page) cannot be requested"
        }
    }
}

extension PagingError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .unusableResponse }
}
