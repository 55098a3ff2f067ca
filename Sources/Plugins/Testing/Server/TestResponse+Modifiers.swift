public import Errand

extension TestResponse {
    /// With another status and, if given, another reason phrase.
    public func status(_ status: Int, reason: String? = nil) -> TestResponse {
        modified { ($0.status, $0.reason) = (status, reason) }
    }

    /// With one more field; those of the same name stay, but a `Content-Type` is replaced.
    public func header(_ name: HTTPHeaderName, _ value: String) -> TestResponse {
        modified { if name == .contentType { $0.headers.set(name, value) } else { $0.headers.add(name, value) } }
    }

    /// With a length other than the body's; the body is sent as it is.
    public func contentLength(_ length: Int) -> TestResponse {
        modified { $0.headers.set(.contentLength, "\(length)") }
    }

    /// In chunks of these sizes, and one of the rest (RFC 9112, section 7.1).
    public func chunked(sizes: [Int] = []) -> TestResponse { modified { $0.framing = .chunked(sizes) } }

    /// Without a length: the end of the connection ends the body.
    public func untilClose() -> TestResponse {
        modified {
            $0.framing = .untilClose
            $0.ending = .close
        }
    }

    /// Fields after the body, which is then sent in chunks.
    public func trailers(_ trailers: HTTPHeaders) -> TestResponse {
        modified {
            $0.trailers = trailers
            if case .length = $0.framing { $0.framing = .chunked([]) }
        }
    }

    /// A 1xx response before this one, sent by itself; several in the order of the calls.
    public func informational(_ status: Int, _ headers: HTTPHeaders = [:]) -> TestResponse {
        modified { $0.informational.append((status, headers)) }
    }

    /// Sends nothing for this long. The wait ends with the client and with the server.
    public func delayed(by delay: Duration) -> TestResponse { modified { $0.delay = delay } }

    /// Sends nothing until a test opens the gate.
    public func waiting(for gate: Gate) -> TestResponse { modified { $0.gate = gate } }

    /// Sends nothing more after this many bytes of the body until a test opens the gate.
    public func waiting(for gate: Gate, afterBodyBytes count: Int) -> TestResponse {
        modified { $0.bodyGate = (max(0, count), gate) }
    }

    /// The body in pieces with a pause before each but the first, each sent by itself. `.zero` only splits.
    public func slowly(
        bytesPerChunk: Int, every interval: Duration, includingHead: Bool = false
    ) -> TestResponse {
        modified { $0.pace = Pace(bytes: max(1, bytesPerChunk), interval: interval, includesHead: includingHead) }
    }

    /// Closes the connection after this many bytes of everything that is sent, head and 1xx included; at the end if
    /// there are fewer.
    public func closing(afterBytes count: Int) -> TestResponse { cut(count, countsHead: true, .close) }

    /// Closes the connection after this many bytes of the body as it is framed.
    public func closing(afterBodyBytes count: Int) -> TestResponse { cut(count, countsHead: false, .close) }

    /// Resets the connection after this many bytes of everything that is sent.
    public func resetting(afterBytes count: Int) -> TestResponse { cut(count, countsHead: true, .reset) }

    /// Resets the connection after this many bytes of the body as it is framed.
    public func resetting(afterBodyBytes count: Int) -> TestResponse { cut(count, countsHead: false, .reset) }

    /// Falls silent after this many bytes of everything that is sent, until the client goes or the server stops.
    public func stalled(afterBytes count: Int) -> TestResponse { cut(count, countsHead: true, .stall) }

    /// Falls silent after this many bytes of the body as it is framed.
    public func stalled(afterBodyBytes count: Int) -> TestResponse { cut(count, countsHead: false, .stall) }

    /// Announces the whole body and closes after `count` bytes of it.
    public func truncated(to count: Int) -> TestResponse { closing(afterBodyBytes: count) }

    /// Whether the connection stays for another request; if not, the head says so.
    public func keepAlive(_ keeps: Bool) -> TestResponse { modified { $0.ending = keeps ? .keep : .close } }

    /// Closes the connection after the response without announcing it, at once or when the next request arrives: what
    /// happens to a client that keeps a connection for longer than the server.
    public func closingSilently(atNextRequest: Bool = false) -> TestResponse {
        modified { $0.ending = atNextRequest ? .closeAtNextRequest : .closeSilently }
    }

    /// Hands the connection over after the response, for another protocol; it is closed when the closure has returned or
    /// thrown.
    public func continuing(with body: @escaping @Sendable (TestConversation) throws -> Void) -> TestResponse {
        modified { $0.ending = .conversation(body) }
    }

    private func cut(_ count: Int, countsHead: Bool, _ action: Cut.Action) -> TestResponse {
        modified { $0.cut = Cut(bytes: max(0, count), countsHead: countsHead, action: action) }
    }

    func modified(_ change: @escaping @Sendable (inout TestResponse) -> Void) -> TestResponse {
        var copy = self
        guard let resolver else {
            change(&copy)
            return copy
        }
        copy.resolver = { request in
            var made = resolver(request).resolved(for: request)
            change(&made)
            return made
        }
        return copy
    }

    func resolved(for request: RecordedRequest) -> TestResponse {
        var response = self
        while let resolver = response.resolver { response = resolver(request) }
        return response
    }
}
