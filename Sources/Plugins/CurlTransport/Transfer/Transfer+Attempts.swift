#if os(Linux) || os(Android)
import Errand
import Synchronization

// The attempts at a request: all of it under the loop's driver lock.
extension Transfer {
    /// The history of the request on connections so far.
    struct Attempts {
        /// The number of connections on which a byte of it may have been sent.
        var count = 0
        /// The number of attempts on the current handle, including those that sent nothing.
        var onHandle = 0
        /// The bytes that libcurl had sent when the current attempt began; below 0 before the first one on a handle.
        var sentBefore: Int64 = -1
        /// The server responded with 417 once, so that the request goes out without its expectation.
        var isExpectationRefused = false
        /// Its response is dropped, by which the server has not processed it, and it goes out as an exchange of its own.
        var dropsResponse = false
        /// Kept connections are not used for it.
        var needsFreshConnection = false
        /// The number of times that a server said that it had not processed the request.
        var refusals = 0
        /// libcurl was kept from sending it again, and it is to be sent from the start.
        var isToRestart = false
        /// The server did not accept a handshake for HTTP/1.
        var needsHTTP2 = false
        /// The alternative of its origin gave no connection.
        var avoidsHTTP3 = false
        /// The system had no descriptor for its socket.
        var lacksDescriptor = false
        /// The bytes that had been read of a kept connection when the request was sent on it, where libcurl may hold
        /// some of them back.
        var takenBefore: UInt64?
        /// The time since when it waits for a descriptor.
        var waitsSince: UInt64?
    }

    /// The next step after libcurl has ended a transfer.
    enum Sequel {
        case end
        /// Another attempt, on a connection of its own.
        case again
        /// Another attempt when there are descriptors.
        case wait
    }

    /// RFC 9110, section 9.2.2: a method that is not idempotent is sent once, any other at most twice.
    var maximumAttempts: Int { request.method.isIdempotent ? 2 : 1 }

    /// A connection is available, and libcurl is about to send the request on it; false prevents that. It is nil where
    /// it is not known for certain.
    func beginAttempt(on connection: SocketTable.Hold?) -> Bool {
        noteRequest()
        guard let handle else { return false }
        attempts.onHandle += 1
        attempts.waitsSince = nil
        limitConnecting(rounds.end())
        // It may have waited for its connection; a repeated request is under way already.
        if attempts.count == 0 {
            do { try options.checkDeparture(of: request) } catch {
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
            // The second time a connection of its own is safer, and a body is sent from its start.
            if attempts.refusals > 1 || !upload.isNone {
                attempts.isToRestart = true
                return false
            }
        }
        // libcurl would send the rest of a body that can be read once.
        if attempts.count > 0 && upload.isBegunStream {
            failure = ErrandError(
                .connectionLost, "the connection was closed while a body that can be sent once was on its way")
            return false
        }
        // The result would be the same.
        if attempts.onHandle > 1, handle.failure(CurlCode.receiveError, loop.proxy).isMalformed {
            failure = handle.failure(CurlCode.receiveError, loop.proxy).error
            return false
        }
        // The attempt before sent nothing, so that no server received it.
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

    /// Whether a repetition is not left to libcurl, which keeps the first text of a handle for every failure that follows on
    /// it, and stays with QUIC though the request was lost on it.
    private func needsNewHandle(_ handle: EasyHandle) -> Bool { handle.hasErrorText || route != nil }

    private func restartOnNewHandle() {
        (attempts.isToRestart, attempts.needsFreshConnection) = (true, true)
        if route != nil { attempts.avoidsHTTP3 = true }
    }

    /// libcurl is about to make a connection on which it would repeat the request; false where another handle does that.
    func mayDialAgain() -> Bool {
        if attempts.isToRestart { return false }
        guard attempts.onHandle > 0, let handle else { return true }
        guard attempts.count > 0, !stream.isRefused, failure == nil, needsNewHandle(handle), !upload.isBegunStream,
            !handle.failure(CurlCode.receiveError, loop.proxy).isMalformed
        else { return true }
        let wasUnsent = handle.sentBytes == attempts.sentBefore
        // The attempt is refused, with the right error, when there is a connection for it.
        if !wasUnsent, attempts.count >= maximumAttempts { return true }
        if wasUnsent { attempts.count -= 1 }
        restartOnNewHandle()
        return false
    }

    private var repetitionError: ErrandError {
        ErrandError(
            .connectionLost,
            request.method.isIdempotent
                ? "the connection was closed before a response, twice"
                : "the connection was closed before a response; a \(request.method.rawValue) that may have been received is not sent again"
        )
    }

    /// Whether a byte of it may have been sent on any connection.
    func mayHaveBeenSent(_ handle: EasyHandle) -> Bool {
        attempts.count > 1 || attempts.count == 1 && handle.sentBytes > attempts.sentBefore
    }

    /// Whether kept connections turned out closed, and none took a byte of it: libcurl ends the transfer after six of them.
    private func isUnsent(_ code: Int32, _ handle: EasyHandle) -> Bool {
        attempts.count == 1 && handle.isReused && !mayHaveBeenSent(handle) && Self.codesOfLostTCP.contains(code)
    }

    /// Whether a server has ended the connection, with GOAWAY or, if it was a kept one, without a word, which may end a
    /// stream alone.
    private func hasLostConnection(_ code: Int32, _ handle: EasyHandle) -> Bool {
        if CurlFailure.isGoAway(code) { return true }
        return attempts.count > 0 && handle.isReused
            && (codesOfLostConnection.contains(code) || handle.failure(code, loop.proxy).isEndedStream)
    }

    /// Whether QUIC has given no connection, or lost it, also a new one: the server can be reached over TCP.
    private func isLostOnQUIC(_ code: Int32) -> Bool {
        CurlFailure.isUnreached(code) || code == CurlCode.partialFile || Self.codesOfLostQUIC.contains(code)
    }

    /// The codes for a connection that has ended without a word.
    private var codesOfLostConnection: Set<Int32> { isOnQUIC ? Self.codesOfLostQUIC : Self.codesOfLostTCP }

    private static let codesOfLostTCP: Set<Int32> = [CurlCode.gotNothing, CurlCode.sendError, CurlCode.receiveError]
    static let codesOfLostQUIC = codesOfLostTCP.union([CurlCode.http3])

    /// The next step after libcurl's code.
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

    /// The server has not processed the current attempt, which counts as not sent (RFC 9113, section 8.7); false, with
    /// a failure, where that happened too often.
    private func takeRefusal() -> Bool {
        stream.isRefused = false
        attempts.count = max(0, attempts.count - 1)
        attempts.refusals += 1
        if attempts.refusals > 1, route != nil { attempts.avoidsHTTP3 = true }
        if attempts.refusals <= Self.maximumRefusals { return true }
        failure = ErrandError(
            .connectionLost, "the server refused to process the request on \(attempts.refusals) connections")
        return false
    }

    private static let maximumRefusals = 3

    /// Whether HTTP/2 is avoided for it although it could have it.
    var keepsToHTTP1: Bool {
        guard loop.speaksHTTP2, !upload.isNone else { return false }
        return loop.library.avoids(.http2Upload)
            || loop.library.avoids(.http2LongUpload) && hasReadBody && !attempts.needsHTTP2
    }

    /// Whether it may use HTTP/2 after all, with a server that supports nothing else.
    private var mayTurnToHTTP2: Bool { keepsToHTTP1 && !loop.library.avoids(.http2Upload) }

    /// 417, by which a server refuses an `Expect`.
    static let expectationFailed = 417

    /// Whether it goes over QUIC, or tries to.
    var isOnQUIC: Bool { route != nil || loop.configuration.httpVersion == .http3Only && target.isSecure }

    /// The codes that occur before a request is sent, possibly for lack of a descriptor: names, connections,
    /// certificates.
    private static let codesBeforeRequest: Set<Int32> = [
        CurlCode.failedInitialization, CurlCode.couldNotResolveProxy, CurlCode.couldNotResolveHost,
        CurlCode.couldNotConnect, CurlCode.outOfMemory, CurlCode.tlsHandshake, CurlCode.interfaceFailed,
        CurlCode.clientCertificate, CurlCode.peerVerification, CurlCode.tlsEngineInitialization,
        CurlCode.rootsNotReadable, CurlCode.tlsShutdown, CurlCode.revocationListNotReadable,
        CurlCode.issuerMismatch, CurlCode.proxyHandshake, CurlCode.quicConnection,
    ]

    /// Prepares it for another attempt on another handle.
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
        // Its connection will be made again: a wait for a free one is no inactivity.
        (hasStarted, isRequested, isResolving) = (false, false, false)
        isReceivePaused = false
        isSendPaused = false
        isUploadAbandoned = false
    }

    /// The error of a transfer that waited too long for a descriptor.
    var descriptorError: ErrandError {
        ErrandError(
            .timedOut,
            "the process or the system had no descriptor for a connection within \(duration: options.timeout)")
    }
}
#endif
