public import ErrandEssentials

/// Where a response's body goes while filters, checks and `decode` run.
public enum BodyDelivery: Sendable, Hashable {
    /// Collects the body in memory, up to the configuration's `maximumBodyBytes`. The default.
    case data
    /// Streams the body. The activity ends when the caller receives the response, before the stream is read.
    case stream
    /// Saves the body to the file at a URL. Throws ``ErrandError/Code/fileFailed`` if the file can't be written.
    ///
    /// The body is first received in a temporary file next to the destination, and checks and `decode` see this
    /// temporary file. Once the response is accepted and decoded, the temporary file atomically replaces an existing
    /// file at the URL.
    ///
    /// An output of type `URL`, ``HTTPResponse`` or ``HTTPBody`` names the final file. The body of an unacceptable
    /// status stays in memory.
    case file(URL)
}
