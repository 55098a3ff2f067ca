#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How the body of a response is to be delivered to filters and to `decode`.
public enum BodyDelivery: Sendable, Hashable {
    /// In memory, at most the configuration's `maximumBodyBytes`. The default.
    case data
    /// As a stream that its reader pulls; the activity ends when the response is handed over.
    case stream
    /// Into the file at a URL, which is replaced once the body is whole; refused statuses are kept in memory instead.
    case file(URL)
}
