public import ErrandEssentials

/// How the body of a response is to be delivered to filters and to `decode`.
public enum BodyDelivery: Sendable, Hashable {
    /// In memory, at most the configuration's `maximumBodyBytes`. The default.
    case data
    /// As a stream that its reader pulls; the activity ends when the response is handed over.
    case stream
    /// Into the file at a URL. The body is written beside it and moved there, in one step, once status, type, checks and
    /// decoding have accepted it; the file that is there stays until then. Checks and `decode` see the temporary file; an
    /// output that is a `URL`, an ``HTTPResponse`` or an ``HTTPBody`` names the final place, and any other one takes it
    /// from the request. The body of a refused status is kept in memory. ``ErrandError/Code/file`` is thrown, with the
    /// path, where the file cannot be written.
    case file(URL)
}
