#if os(Linux) || os(Android)
/// Where libcurl finds the authorities the system trusts.
enum SystemAuthorities: Equatable {
    /// libcurl's own default.
    case builtIn
    /// A PEM file.
    case file(String)
    /// A directory of certificates, each named by the hash of its subject.
    case directory(String)

    /// Android's directories. The first one is updated with system modules, since Android 14.
    static let directories = ["/apex/com.android.conscrypt/cacerts", "/system/etc/security/cacerts"]
    /// The files of Debian, Fedora, openSUSE and Alpine.
    static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Prefers Android's directory, then libcurl's built-in location. If the built-in file is missing, libcurl rejects
    /// all servers regardless of its directory, so the files of distributions come next, for a libcurl built for
    /// another distribution or without a location, and then the built-in directory alone.
    static func choose(file: String?, directory: String?, exists: (String) -> Bool) -> Self {
        if let android = directories.first(where: exists) { return .directory(android) }
        let place = directory.flatMap { exists($0) ? $0 : nil }
        if file.map(exists) ?? (place != nil) { return .builtIn }
        if let known = files.first(where: exists) { return .file(known) }
        return place.map(Self.directory) ?? .builtIn
    }

    /// Returns this system's authorities for the loaded libcurl.
    static func ofSystem() -> Self {
        choose(
            file: CurlLibrary.authoritiesFile,
            directory: CurlLibrary.authoritiesDirectory
        ) { SystemCalls.isReadable($0) }
    }
}
#endif
