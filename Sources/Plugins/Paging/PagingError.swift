public import Errand
import ErrandEssentials

/// A failure in the sequence of a list's pages. If a request itself fails, the request's error is thrown unchanged.
public struct PagingError: Error, Sendable, Hashable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<PagingError>

    /// The kind of failure. Stable, and suitable for metrics.
    public let code: Code
    /// The number of the page where the failure occurred.
    public let page: Int
}

extension FailureCode<PagingError> {
    /// The list would never end. Either a page names itself or an earlier page as the next page, or numbered pages
    /// repeat the same items although the total is higher.
    public static var repeatedPage: Self { Self("repeatedPage", 1) }
    /// The page can't be requested. Either its number is before the first page, or only the page before it contains its
    /// cursor or link.
    public static var unreachablePage: Self { Self("unreachablePage", 2) }
    /// The page's "next" link isn't a URL, so the rest of the list is unknown.
    public static var invalidLink: Self { Self("invalidLink", 3) }
    /// More than 1,000 consecutive pages had no new items. Each of them was empty but named a next page, or all their
    /// items were equal.
    public static var endlessList: Self { Self("endlessList", 4) }
}

extension PagingError: CodedError {
    /// The code, the page and the failure, in one sentence.
    public var description: String {
        switch code {
        case .repeatedPage:
            "repeatedPage: page \(page) links back to itself or an earlier page, or repeats its items"
        case .invalidLink: "invalidLink: the next link of page \(page) is not a URL"
        case .endlessList: "endlessList: \(PageHistory.maximumIdlePages) pages up to page \(page) had no new items"
        default: "unreachablePage: page \(page) is before the first page, or only the previous page can name it"
        }
    }
}

extension PagingError {
    /// The sentence for users.
    public var failureSentence: FailureSentence { .unusableResponse }
}
