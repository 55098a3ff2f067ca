#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Asks for a password on the terminal itself, even if the standard streams are redirected, without echoing it.
enum PasswordPrompt {
    /// Blocks until a line is typed. A signal in the meantime restores the terminal and ends the program.
    static func ask(_ prompt: String) throws(DownloadArguments.Mistake) -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw .init(
                message: "a password is needed, and there is no terminal to ask on; use --netrc or --user NAME:PASSWORD"
            )
        }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { throw .init(message: "the terminal cannot hide a password") }
        let original = before
        let signals = Signals { _ in
            var original = original
            tcsetattr(terminal, TCSAFLUSH, &original)
            _ = Descriptor(number: terminal).write(Array("\n".utf8))
            exit(ExitStatus.interrupted.rawValue)
        }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &before)
            _ = Descriptor(number: terminal).write(Array("\n".utf8))
            signals.stop()
        }
        _ = Descriptor(number: terminal).write(Array(prompt.utf8))
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 4096 {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 || byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
