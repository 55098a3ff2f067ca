public import ErrandEssentials

/// Where a response's body goes while filters, checks and `decode` run: into memory, a stream or a file.
public enum BodyDelivery: Sendable, Hashable {
    /// The body is collected in memory, up to the configuration's `maximumBodyBytes`. The default.
    case data
    /// The body is a stream that its reader pulls. The activity ends when the caller receives the response, before the
    /// stream is read.
    case stream
    /// The body is saved to the file at a URL. A temporary file next to it receives the body and replaces an existing
    /// file, in one step, once status, type, checks and decoding have accepted the response.
    ///
    /// Checks and `decode` see the temporary file. An output of type `URL`, ``HTTPResponse`` or ``HTTPBody`` names the
    /// final file; other outputs take the URL from the request. The body of an unacceptable status stays in memory. If
    /// the file can't be written, the request throws ``ErrandError/Code/fileFailed`` with its path.
    case file(URL)
}
