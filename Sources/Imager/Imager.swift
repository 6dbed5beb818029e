import CSandbox
import CVips
import Glibc
import Images
import Version

/// Reads requests on its standard input and answers on its standard output, one after the other, until the input
/// ends. The only program that decodes images: it may crash, and it can do nothing else.
@main
enum Imager {
    static let usage = """
        usage: bookplate-imager [--help | --version]

        Decodes cover images and draws title cards in a sandbox. The server starts it and talks to it over standard input
        and output, so it is not run by hand.

        """

    static func main() {
        handleArguments(Array(CommandLine.arguments.dropFirst()))
        bookplate_sandbox_close_others()
        guard bookplate_vips_init("bookplate-imager") == 0 else {
            stop("libvips does not start: \(VipsError().text)")
        }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        allowOnlyTheAccepted()
        // Fonts are found while files can still be looked for as usual.
        _ = try? Picture { bookplate_vips_text("Aa", "serif 12", 100, 0, 0, $0) }
        limitResources()
        let refused = bookplate_sandbox_enter()
        guard refused == 0 else {
            stop("the kernel gives no sandbox: \(String(cString: strerror(refused)))")
        }
        if let name = firstFormatThatIsNotRefused() { stop("\(name) is not refused") }
        serve()
    }

    /// Handles `--help` and `--version`, which end the program.
    private static func handleArguments(_ arguments: [String]) {
        guard let argument = arguments.first else { return }
        switch argument {
        case "--help", "-h": print(usage, terminator: "")
        case "--version": print("bookplate-imager \(bookplateVersion)")
        default: stop("Unknown argument \"\(argument)\". See bookplate-imager --help.", code: 64)
        }
        exit(0)
    }

    private static func serve() {
        let channel = FrameChannel(input: STDIN_FILENO, output: STDOUT_FILENO)
        do throws(FrameChannel.Failure) {
            try channel.send(ImageAnswer.ready.encoded(), until: nil)
            while let payload = try channel.receive(until: nil) {
                allowCPU(seconds: ImageLimits.cpuSecondsMax)
                try channel.send(answer(payload).encoded(), until: nil)
                // What a large image took goes back to the system.
                malloc_trim(0)
            }
        } catch {
            stop("the server is gone: \(error)")
        }
    }

    private static func answer(_ payload: [UInt8]) -> ImageAnswer {
        do throws(Refusal) {
            switch ImageRequest(payload: payload) {
            case .cover(let bytes): return .images(try decodeCover(bytes))
            case .titleCard(let card): return .images(try drawTitleCard(card))
            case nil: return .unsupported("The request cannot be read.")
            }
        } catch {
            return .unsupported(error.sentence)
        }
    }

    static func stop(_ message: String, code: Int32 = 70) -> Never {
        var line = "bookplate-imager: \(message)\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(code)
    }
}
