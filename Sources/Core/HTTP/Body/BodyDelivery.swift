public import ErrandEssentials

/// How the body of a response is delivered to filters and to `decode`.
public enum BodyDelivery: Sendable, Hashable {
    /// In memory, at most the configuration's `maximumBodyBytes`. The default.
    case data
    /// As a stream that its reader pulls; the activity ends when the response is handed over.
    case stream
    /// Into the file at a URL. The body is written beside it and moved there, in one step, once status, type, checks
    /// and decoding have accepted it; an existing file stays until then. Checks and `decode` see the temporary file; an
    /// output that is a `URL`, an ``HTTPResponse`` or an ``HTTPBody`` names the final file, and any other output takes
    /// it from the request. The body of a refused status is kept in memory. A file that cannot be written throws
    /// ``ErrandError/Code/fileFailed`` with its path.
    case file(URL)
}
