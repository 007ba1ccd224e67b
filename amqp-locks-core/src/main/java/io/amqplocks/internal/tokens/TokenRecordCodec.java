package io.amqplocks.internal.tokens;

import io.amqplocks.admin.TokenQueueType;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text form of a record. PROTOCOL describes it for other clients. */
final class TokenRecordCodec {

  /** Twice the length of 10,000 tokens with as many epochs. */
  private static final int LONGEST = 400_000;

  /**
   * Has no alternatives inside a repetition, because the matcher would recurse for each character.
   */
  private static final String TOKENS = "([-@\\d ]+|none)";

  private static final Pattern FORM =
      Pattern.compile(
          "version (\\d{1,18}) generation (\\d{1,9}) of (\\d{1,9}) (classic|quorum) slots (\\d{1,5})"
              + " epoch (\\d{1,9}) on RabbitMQ (\\d{1,3}) tokens %1$s adding %1$s withdrawing %1$s"
                  .formatted(TOKENS));

  /** Parses a message; empty if it is not a record of ours. */
  static Optional<TokenRecord> parse(String text) {
    if (text.length() > LONGEST) {
      return Optional.empty();
    }
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    return TokenSet.parse(form.group(8))
        .flatMap(
            tokens ->
                TokenSet.parse(form.group(9))
                    .flatMap(
                        adding ->
                            TokenSet.parse(form.group(10))
                                .map(withdrawing -> of(form, tokens, adding, withdrawing))))
        .filter(TokenRecord::isConsistent);
  }

  private static TokenRecord of(
      Matcher form, TokenSet tokens, TokenSet adding, TokenSet withdrawing) {
    return new TokenRecord(
        Long.parseLong(form.group(1)),
        Integer.parseInt(form.group(2)),
        Integer.parseInt(form.group(3)),
        form.group(4).equals("quorum") ? TokenQueueType.QUORUM : TokenQueueType.CLASSIC,
        Integer.parseInt(form.group(5)),
        Long.parseLong(form.group(6)),
        Integer.parseInt(form.group(7)),
        tokens,
        adding,
        withdrawing);
  }

  private TokenRecordCodec() {}
}
