import ErrandEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

let command = ValidateCommand(
    arguments: Array(CommandLine.arguments.dropFirst()), output: { print($0) },
    complaint: { line in
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    })
exit(command.run().rawValue)
