#if os(Linux) || os(Android)
import Errand
import Synchronization

// The methods in this extension run under the loop's driver lock.
extension Transfer {
    struct Attempts {
        /// The number of connections on which a byte of the request may have been sent.
        var count = 0
        /// The number of attempts on the current handle, including unsent attempts.
        var onHandle = 0
        /// The bytes that libcurl had sent when the attempt began, or -1 before the handle's first attempt.
        var sentBefore: Int64 = -1
        /// Whether the server rejected `Expect` with status 417.
        var isExpectationRefused = false
        /// Whether the server rejected the request without processing it. The response is then dropped, and the request
        /// is sent again.
        var dropsResponse = false
        var needsFreshConnection = false
        var refusals = 0
        /// Whether libcurl was prevented from resending the request, so the transfer has to begin again.
        var isToRestart = false
        /// Whether the server rejected HTTP/1 in the TLS handshake.
        var needsHTTP2 = false
        var avoidsHTTP3 = false
        var lacksDescriptor = false
        /// The number of bytes read from a reused connection when the request was sent. Only set if libcurl's TLS
        /// library may hold back bytes that it has already read.
        var takenBefore: UInt64?
        var waitsSince: UInt64?
    }

    enum Sequel {
        case end
        /// Try again on a new connection.
        case again
        /// Wait for descriptors.
        case wait
    }

    /// How often the request may be sent. An idempotent request may be sent twice (RFC 9110, section 9.2.2).
    var maximumAttempts: Int { request.method.isIdempotent ? 2 : 1 }

    /// Begins an attempt. Returns `false` to prevent the attempt. `connection` is `nil` if the connection isn't known
    /// for certain.
    func beginAttempt(on connection: SocketTable.Hold?) -> Bool {
        noteRequest()
        guard let handle else { return false }
        attempts.onHandle += 1
        attempts.waitsSince = nil
        limitConnecting(rounds.end())
        // Check the request just before it's sent, because it may have waited. A repeated request has already been
        // checked.
        if attempts.count == 0 {
            do { try options.checkBeforeSending(request) } catch {
                failure = error
                return false
            }
        }
        let sent = handle.sentBytes
        defer { attempts.sentBefore = sent }
        if attempts.dropsResponse { (attempts.dropsResponse, attempts.count) = (false, 0) }
        let isRefused = stream.isRefused && !upload.isBegunStream
        if isRefused {
            guard takeRefusal() else { return false }
            // Begin the transfer again after a second refusal, because a new connection is safer, and for a body,
            // because it must be sent from its start.
            if attempts.refusals > 1 || !upload.isNone {
                attempts.isToRestart = true
                return false
            }
        }
        // libcurl would send only the remaining bytes of a body that can be read once.
        if attempts.count > 0 && upload.isBegunStream {
            failure = ErrandError(
                .connectionLost, "the connection was closed while sending a body that can be sent only once")
            return false
        }
        if attempts.onHandle > 1, handle.failure(CurlCode.receiveError, loop.proxy).isMalformed {
            failure = handle.failure(CurlCode.receiveError, loop.proxy).error
            return false
        }
        // If the previous attempt didn't send a byte, it doesn't count.
        if attempts.count > 0, sent == attempts.sentBefore { attempts.count -= 1 }
        if let connection, !mayUse(connection) { return false }
        guard attempts.count < maximumAttempts else {
            failure = repetitionError
            loop.noteFailure(of: self)
            return false
        }
        if attempts.onHandle > 1, !isRefused, needsNewHandle(handle) {
            restartOnNewHandle()
            return false
        }
        attempts.count += 1
        return true
    }

    /// Whether to repeat the request on a new handle. libcurl keeps a handle's first error text for later failures, and
    /// a handle that used QUIC never uses TCP.
    private func needsNewHandle(_ handle: EasyHandle) -> Bool { handle.hasErrorText || route != nil }

    private func restartOnNewHandle() {
        (attempts.isToRestart, attempts.needsFreshConnection) = (true, true)
        if route != nil { attempts.avoidsHTTP3 = true }
    }

    /// Returns whether libcurl may connect again. Returns `false` if a new handle has to repeat the request.
    func mayDialAgain() -> Bool {
        if attempts.isToRestart { return false }
        guard attempts.onHandle > 0, let handle else { return true }
        guard attempts.count > 0, !stream.isRefused, failure == nil, needsNewHandle(handle), !upload.isBegunStream,
            !handle.failure(CurlCode.receiveError, loop.proxy).isMalformed
        else { return true }
        let wasUnsent = handle.sentBytes == attempts.sentBefore
        // Let libcurl connect, so ``beginAttempt(on:)`` rejects the attempt with the right error.
        if !wasUnsent, attempts.count >= maximumAttempts { return true }
        if wasUnsent { attempts.count -= 1 }
        restartOnNewHandle()
        return false
    }

    private var repetitionError: ErrandError {
        ErrandError(
            .connectionLost,
            request.method.isIdempotent
                ? "the connection was closed twice before a response"
                : "the connection was closed before a response; the \(request.method.rawValue) may have been received, so it isn't sent again"
        )
    }

    func mayHaveBeenSent(_ handle: EasyHandle) -> Bool {
        attempts.count > 1 || attempts.count == 1 && handle.sentBytes > attempts.sentBefore
    }

    /// Whether a reused connection was closed before a byte was sent. libcurl gives up after six such connections.
    private func isUnsent(_ code: Int32, _ handle: EasyHandle) -> Bool {
        attempts.count == 1 && handle.isReused && !mayHaveBeenSent(handle) && Self.codesOfLostTCP.contains(code)
    }

    /// Whether a server ended the connection with a GOAWAY, or silently ended a reused connection or its stream.
    private func hasLostConnection(_ code: Int32, _ handle: EasyHandle) -> Bool {
        if CurlFailure.isGoAway(code) { return true }
        return attempts.count > 0 && handle.isReused
            && (codesOfLostConnection.contains(code) || handle.failure(code, loop.proxy).isEndedStream)
    }

    /// Whether QUIC couldn't connect or lost its connection, so the request should use TCP.
    private func isLostOnQUIC(_ code: Int32) -> Bool {
        CurlFailure.isUnreached(code) || code == CurlCode.partialFile || Self.codesOfLostQUIC.contains(code)
    }

    private var codesOfLostConnection: Set<Int32> { isOnQUIC ? Self.codesOfLostQUIC : Self.codesOfLostTCP }

    private static let codesOfLostTCP: Set<Int32> = [CurlCode.gotNothing, CurlCode.sendError, CurlCode.receiveError]
    static let codesOfLostQUIC = codesOfLostTCP.union([CurlCode.http3])

    func sequel(to code: Int32, _ handle: EasyHandle) -> Sequel {
        if attempts.dropsResponse, head.isComplete, failure == nil, !isCancelled { return .again }
        guard code != 0, failure == nil, head.received == 0, !isCancelled, !upload.isBegunStream else { return .end }
        if attempts.isToRestart {
            attempts.isToRestart = false
            if attempts.refusals > 1 { attempts.needsFreshConnection = true }
            return .again
        }
        if attempts.count == 0, code == CurlCode.tlsHandshake, mayTurnToHTTP2 {
            attempts.needsHTTP2 = true
            return .again
        }
        if route != nil, attempts.count == 0 || attempts.count < maximumAttempts && isLostOnQUIC(code) {
            attempts.avoidsHTTP3 = true
            return .again
        }
        if !isRequested, route == nil, hasStarted, rounds.goOn(after: code, since: connecting, at: loop.now) {
            return .again
        }
        if attempts.count == 0, Self.codesBeforeRequest.contains(code) {
            return attempts.lacksDescriptor || !DescriptorShortage.isOver ? .wait : .end
        }
        if stream.isRefused && takeRefusal() {
            if attempts.refusals > 1 { attempts.needsFreshConnection = true }
            return .again
        }
        if failure == nil, isUnsent(code, handle) {
            attempts.count -= 1
            (attempts.needsFreshConnection, attempts.avoidsHTTP3) = (true, route != nil)
            return .again
        }
        if failure != nil || attempts.count >= maximumAttempts { return .end }
        let isLost =
            handle.isReused && (CurlFailure.isForeign(code) || code == CurlCode.partialFile)
            || hasLostConnection(code, handle) && !handle.failure(code, loop.proxy).isMalformed
        if isLost { (attempts.needsFreshConnection, attempts.avoidsHTTP3) = (true, route != nil) }
        return isLost ? .again : .end
    }

    /// Handles a refused request. The server hasn't processed the request (RFC 9113, section 8.7), so the attempt
    /// counts as unsent. Returns `false` and sets an error after too many refusals.
    private func takeRefusal() -> Bool {
        stream.isRefused = false
        attempts.count = max(0, attempts.count - 1)
        attempts.refusals += 1
        if attempts.refusals > 1, route != nil { attempts.avoidsHTTP3 = true }
        if attempts.refusals <= Self.maximumRefusals { return true }
        failure = ErrandError(
            .connectionLost, "the server refused the request on \(attempts.refusals) connections in a row")
        return false
    }

    private static let maximumRefusals = 3

    var keepsToHTTP1: Bool {
        guard loop.speaksHTTP2, !upload.isNone else { return false }
        return loop.library.avoids(.http2Upload)
            || loop.library.avoids(.http2LongUpload) && hasReadBody && !attempts.needsHTTP2
    }

    /// Whether to use HTTP/2 after all, if the server doesn't support HTTP/1.
    private var mayTurnToHTTP2: Bool { keepsToHTTP1 && !loop.library.avoids(.http2Upload) }

    static let expectationFailed = 417

    /// Whether the request uses QUIC. Also true while the request tries QUIC.
    var isOnQUIC: Bool { route != nil || loop.configuration.httpVersion == .http3Only && target.isSecure }

    /// The codes of failures before a request is sent. A lack of descriptors may be the cause.
    private static let codesBeforeRequest: Set<Int32> = [
        CurlCode.failedInitialization, CurlCode.couldNotResolveProxy, CurlCode.couldNotResolveHost,
        CurlCode.couldNotConnect, CurlCode.outOfMemory, CurlCode.tlsHandshake, CurlCode.interfaceFailed,
        CurlCode.clientCertificate, CurlCode.peerVerification, CurlCode.tlsEngineInitialization,
        CurlCode.rootsNotReadable, CurlCode.tlsShutdown, CurlCode.revocationListNotReadable,
        CurlCode.issuerMismatch, CurlCode.proxyHandshake, CurlCode.quicConnection,
    ]

    func rewind(forWaiting now: UInt64? = nil) {
        attempts.sentBefore = -1
        attempts.onHandle = 0
        attempts.lacksDescriptor = false
        attempts.takenBefore = nil
        stream = Stream()
        head.reset()
        if let now { attempts.waitsSince = attempts.waitsSince ?? now }
        uploadOffset = 0
        progress.sent = 0
        // The transfer waits for a connection again, which doesn't count as inactivity.
        (hasStarted, isRequested, isResolving) = (false, false, false)
        isReceivePaused = false
        isSendPaused = false
        isUploadAbandoned = false
    }

    var descriptorError: ErrandError {
        ErrandError(
            .timedOut,
            "no file descriptor for a connection became free within \(duration: options.timeout)")
    }
}
#endif
