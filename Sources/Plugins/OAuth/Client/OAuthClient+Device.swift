import Errand
public import ErrandEssentials
import ErrandMessageSyntax

/// How a user signs in on a device without a browser: by opening a page on another device and entering a code.
public struct DeviceSignIn: Sendable {
    /// The page that the user opens on another device (`verification_uri`).
    public let page: URL
    /// The code that the user enters on that page, as it should be shown (`user_code`).
    public let userCode: String
    /// The page with the code in it, for a QR code, or nil if the server has no such page.
    public let pageWithCode: URL?
    /// When the code expires, by this device's clock.
    public let expiry: Date
}

extension DeviceSignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// When the sign-in expires, without the page's URL and the code.
    public var description: String { "a device sign-in that is valid until \(expiry)" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror that shows only the expiry, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: ["expiry": expiry]) }
}

extension OAuthClient {
    /// Signs a user in on a device without a browser (RFC 8628).
    ///
    /// ```swift
    /// let token = try await client.signInOnDevice(scope: "profile") { device in
    ///     print("Open \(device.page) and enter \(device.userCode)")
    /// }
    /// ```
    ///
    /// The client asks the server for the token as often as the server allows, until the user has entered the code, the
    /// code has expired, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - scope: The scope, separated by spaces. Defaults to nil, the server's default.
    ///   - parameters: More parameters. Defaults to no parameters.
    ///   - show: Shows the page and the code. Called once; sign-in waits until it returns, so don't wait for the user
    ///     in it.
    ///
    /// Throws ``OAuthError``: `deviceCodeExpired` if the user didn't enter the code in time, `accessDenied` if the user
    /// refused.
    public func signInOnDevice(
        scope: String? = nil, parameters: [String: String] = [:],
        show: (DeviceSignIn) async throws -> Void
    ) async throws -> OAuthToken {
        var form: [(name: String, value: String)] = []
        if let scope { form.append(("scope", scope)) }
        try Self.add(parameters, to: &form)
        let endpoint = try Endpoint(
            try await server().deviceAuthorizationEndpoint, "device authorization endpoint")
        let reply = try DeviceReply(try await post(form, to: endpoint, hiding: []))
        let end = time.instant(after: .seconds(reply.lifetime))
        try await show(reply.signIn(at: time.date))
        return try await token(of: reply, until: end)
    }

    /// Polls the token endpoint (RFC 8628, sections 3.4 and 3.5).
    private func token(of reply: DeviceReply, until end: ContinuousClock.Instant) async throws -> OAuthToken {
        let form = [
            (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", reply.deviceCode),
        ]
        var interval = reply.interval
        while true {
            let next = time.instant(after: .seconds(interval))
            guard next < end else { throw OAuthError(.deviceCodeExpired, "the code wasn't entered in time") }
            try await time.sleep(until: next)
            do { return try await token(for: form, hiding: [reply.deviceCode]) } catch let error as OAuthError {
                guard let wait = DevicePolling.interval(after: error, interval) else { throw error }
                interval = wait
            }
        }
    }
}

enum DevicePolling {
    static let maximumInterval: Int64 = 600

    /// Returns the seconds until the next poll after an error, or nil if the error is final.
    static func interval(after error: OAuthError, _ interval: Int64) -> Int64? {
        switch error.serverCode {
        case "authorization_pending": interval
        case "slow_down": min(interval + 5, maximumInterval)
        // A connection that times out halves the frequency, and so does a server that is busy, whatever it calls that.
        default: error.isRetryable ? min(interval * 2, maximumInterval) : nil
        }
    }
}

/// The response of the device authorization endpoint (RFC 8628, section 3.2).
struct DeviceReply {
    let deviceCode: String
    let lifetime: Int64
    let interval: Int64
    private let userCode: String
    private let page: URL
    private let pageWithCode: URL?

    private struct Members: Decodable {
        let device_code: String
        let user_code: String
        let verification_uri: String?
        /// The name in early drafts, which some servers use.
        let verification_url: String?
        let verification_uri_complete: String?
        let expires_in: Seconds
        let interval: Seconds?
    }

    /// Some servers put numbers in quotes, or leave them blank.
    private struct Seconds: Decodable {
        /// Nil if it's blank.
        let number: Double?

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Double.self) {
                self.number = number
                return
            }
            guard let text = ServerText.given(try value.decode(String.self)) else {
                number = nil
                return
            }
            guard let number = ASCII.decimal(text) else {
                throw DecodingError.dataCorruptedError(
                    in: value, debugDescription: "expected a number of seconds, found something else")
            }
            self.number = number
        }
    }

    init(_ data: Data) throws(OAuthError) {
        guard let members = try? JSONDecoder().decode(Members.self, from: data), !members.device_code.isEmpty,
            !members.user_code.isEmpty, members.user_code.count <= 64, let seconds = members.expires_in.number,
            let page = ServerText.given(members.verification_uri) ?? members.verification_url
        else {
            throw OAuthError(
                .invalidResponse, "the response has no device code, user code or page for a sign-in on another device")
        }
        deviceCode = members.device_code
        userCode = ControlCharacters.escaped(members.user_code)
        self.page = try ServerAddress.checked(page, "verification_uri")
        let complete = ServerText.given(members.verification_uri_complete)
        pageWithCode = try complete.map { text throws(OAuthError) in
            try ServerAddress.checked(text, "verification_uri_complete")
        }
        lifetime = Self.bounded(seconds, 1, 86_400)
        interval = Self.bounded(members.interval?.number ?? 5, 1, DevicePolling.maximumInterval)
    }

    private static func bounded(_ seconds: Double, _ least: Int64, _ most: Int64) -> Int64 {
        guard seconds >= Double(least) else { return least }
        return seconds < Double(most) ? Int64(seconds.rounded(.up)) : most
    }

    func signIn(at date: Date) -> DeviceSignIn {
        DeviceSignIn(
            page: page, userCode: userCode, pageWithCode: pageWithCode,
            expiry: date.addingTimeInterval(Double(lifetime)))
    }
}
