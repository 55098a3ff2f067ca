#if os(Linux)
import Errand
import Synchronization

// How often a request goes out: all of it under the loop's driver lock.
extension Transfer {
    /// What became of the request on connections so far.
    struct Attempts {
        /// On how many connections a byte of it may have gone out.
        var count = 0
        /// How many began on the present handle, those of which nothing was sent included.
        var onHandle = 0
        /// What libcurl had sent when the present attempt began; below 0 before the first one on a handle.
        var sentBefore: Int64 = -1
        /// The server responded with 417 once.
        var isExpectationRefused = false
        /// Kept connections are not to be used for it.
        var needsFreshConnection = false
        /// The system had no descriptor for its socket.
        var lacksDescriptor = false
        /// Since when it waits for a descriptor.
        var waitsSince: UInt64?
    }

    /// What follows when libcurl has ended a transfer.
    enum Sequel {
        case end
        /// Another attempt, on a connection of its own.
        case again
        /// Another attempt when there are descriptors.
        case wait
    }

    /// RFC 9110, section 9.2.2: a method that is not idempotent goes out once, any other once more.
    private var mostAttempts: Int { request.method.isIdempotent ? 2 : 1 }

    /// A connection is there, and libcurl is about to send the request on it; false refuses that.
    func beginAttempt() -> Bool {
        noteRequest()
        guard let handle else { return false }
        noteConnection()
        attempts.onHandle += 1
        attempts.waitsSince = nil
        let sent = handle.sentBytes
        defer { attempts.sentBefore = sent }
        // RFC 9110, section 10.1.1: the request goes out again without its expectation, as an exchange of its own. From
        // 8.12 on libcurl would repeat an expectation of the caller's thirty times.
        if head.isComplete, head.status == Self.expectationFailed, !attempts.isExpectationRefused {
            (attempts.isExpectationRefused, attempts.count) = (true, 0)
            handle.withdrawExpectation()
        }
        // libcurl would send what is left of a body that can be read once.
        if attempts.count > 0 && upload.isBegunStream {
            failure = ErrandError(
                .connectionLost, "the connection was closed while a body that can be sent once was on its way")
            return false
        }
        // The attempt before sent nothing, so that no server saw it.
        if attempts.count > 0 && sent == attempts.sentBefore { return true }
        guard attempts.count < mostAttempts else {
            let isRepeated = request.method.isIdempotent
            failure = ErrandError(
                .connectionLost,
                isRepeated
                    ? "the connection was closed before a response, twice"
                    : "the connection was closed before a response; a \(request.method.rawValue) that may have been received is not sent again"
            )
            return false
        }
        attempts.count += 1
        return true
    }

    /// Whether a byte of it may have gone out on any connection.
    func mayHaveBeenSent(_ handle: EasyHandle) -> Bool {
        attempts.count > 1 || attempts.count == 1 && handle.sentBytes > attempts.sentBefore
    }

    /// What follows after libcurl's code.
    func sequel(to code: Int32, _ handle: EasyHandle) -> Sequel {
        guard code != 0, failure == nil, head.received == 0, !isCancelled, !upload.isBegunStream else { return .end }
        if attempts.count == 0, Self.codesBeforeRequest.contains(code) {
            return attempts.lacksDescriptor || !DescriptorShortage.isOver ? .wait : .end
        }
        // libcurl itself sends a request again whose stream was reset as refused, but not one that a GOAWAY leaves out.
        let mayRepeat = Failure.isForeign(code) && handle.isReused || Failure.isGoAway(code)
        return mayRepeat && attempts.count < mostAttempts ? .again : .end
    }

    /// 417, by which a server refuses an `Expect`.
    static let expectationFailed = 417

    /// What fails before a request is sent, and may fail for want of a descriptor: names, connections, certificates.
    private static let codesBeforeRequest: Set<Int32> = [
        CurlCode.failedInitialization, CurlCode.couldNotResolveProxy, CurlCode.couldNotResolveHost,
        CurlCode.couldNotConnect, CurlCode.outOfMemory, CurlCode.tlsHandshake, CurlCode.interfaceFailed,
        CurlCode.clientCertificate, CurlCode.peerVerification, CurlCode.tlsEngineInitialization,
        CurlCode.rootsNotReadable, CurlCode.tlsShutdown, CurlCode.revocationListNotReadable,
        CurlCode.issuerMismatch, CurlCode.proxyHandshake,
    ]

    /// Makes it ready for another attempt on another handle.
    func rewind(forWaiting now: UInt64? = nil) {
        attempts.sentBefore = -1
        attempts.onHandle = 0
        attempts.lacksDescriptor = false
        if let now {
            attempts.waitsSince = attempts.waitsSince ?? now
        } else {
            attempts.needsFreshConnection = true
        }
        uploadOffset = 0
        progress.sent = 0
        // Its connection is yet to come again: a wait for a free one is no inactivity.
        (hasStarted, isRequested, isResolving) = (false, false, false)
        isReceivePaused = false
        isSendPaused = false
        isUploadAbandoned = false
    }

    /// What it ends with when it waited too long for a descriptor.
    var descriptorError: ErrandError {
        ErrandError(.timedOut, "the process or the system had no descriptor for a connection within \(options.timeout)")
    }
}
#endif
