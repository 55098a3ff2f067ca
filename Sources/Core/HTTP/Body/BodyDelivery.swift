public import ErrandEssentials

/// How filters and `decode` receive a response's body.
public enum BodyDelivery: Sendable, Hashable {
    /// In memory, up to the configuration's `maximumBodyBytes`. The default.
    case data
    /// As a stream that its reader pulls. The activity ends when the response is handed over.
    case stream
    /// Into the file at a URL. A temporary file next to it receives the body and replaces an existing file, in one
    /// step, once status, type, checks and decoding have accepted the response.
    ///
    /// Checks and `decode` see the temporary file. An output of type `URL`, ``HTTPResponse`` or ``HTTPBody`` names the
    /// final file; other outputs take the URL from the request. The body of an unacceptable status stays in memory. If
    /// the file can't be written, the request throws ``ErrandError/Code/fileFailed`` with its path.
    case file(URL)
}
